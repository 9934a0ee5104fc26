/** Telegram accounts keep the contract of every platform. */
import { platformContract } from './contract.ts'
import { telegramHarness } from './telegram/harness.ts'
import { Stage } from './telegram/stage.ts'

platformContract('Telegram', async (t) => telegramHarness(await Stage.start(t)))
