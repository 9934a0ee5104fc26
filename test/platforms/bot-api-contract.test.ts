/** Telegram's bots keep the contract of every platform, with another gateway as their network. */
import { botApiHarness } from './bot-api/harness.ts'
import { platformContract } from './contract.ts'

platformContract('Telegram bots', botApiHarness)
