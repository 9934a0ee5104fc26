/** The libraries in Python against the service. */
import { judge } from './judge.ts'

await judge('python')
