import { liveOnAll } from '../journeys/true-lives.ts'

liveOnAll(500)
