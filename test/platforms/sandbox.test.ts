/** The sandbox does what every platform must do. */
import { platformContract } from './contract.ts'
import { sandboxHarness } from './sandbox/harness.ts'

platformContract('the sandbox', sandboxHarness)
