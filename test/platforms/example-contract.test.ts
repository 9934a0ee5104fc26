/** The example of a network, held to the contract that every platform keeps. */
import t from 'tap'
import { platformContract } from './contract.ts'
import { exampleHarness } from './example/harness.ts'

platformContract(t, 'Example', exampleHarness)
