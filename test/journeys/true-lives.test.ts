import { liveOnAll } from './true-lives.ts'

liveOnAll(15)
