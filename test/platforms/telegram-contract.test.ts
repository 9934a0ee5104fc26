/** Telegram accounts keep the contract of every platform. */
import t from 'tap'
import { platformContract } from './contract.ts'
import { telegramHarness } from './telegram/harness.ts'
import { Stage } from './telegram/stage.ts'

platformContract(t, 'Telegram', async (t) => telegramHarness(await Stage.start(t)))
