/** The sandbox does what every platform must do. */
import t from 'tap'
import { platformContract } from './contract.ts'
import { sandboxHarness } from './sandbox/harness.ts'

platformContract(t, 'the sandbox', sandboxHarness)
