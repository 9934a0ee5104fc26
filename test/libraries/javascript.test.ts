/** The libraries in JavaScript against the service. */
import { judge } from './judge.ts'

await judge('javascript')
