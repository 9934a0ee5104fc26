/** Telegram's bots keep the contract of every platform, with another gateway as their network. */

import { platformContract } from './contract.ts'
import { botApiHarness } from './upstream-bot/harness.ts'

platformContract('Telegram bots', botApiHarness)
