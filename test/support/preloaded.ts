import { preload } from './preload.ts'

preload()
