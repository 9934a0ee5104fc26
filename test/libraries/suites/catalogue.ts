/** The suites that judge the sandbox. Their order is that of the page. */
import { goSuites } from './go.ts'
import { javaTelegramBotApi } from './java.ts'
import { effectTelegramApi, nodeTelegramBotApi, typescriptTelegramBotApi } from './javascript.ts'
import { westacksTelebot } from './php.ts'
import { pyTelegramBotApi, pythonTelegramBot } from './python.ts'
import { rTelegramBot } from './r.ts'
import { telegramBotRuby } from './ruby.ts'
import type { Suite } from './suite.ts'

export const suites: readonly Suite[] = [
  ...goSuites,
  pythonTelegramBot,
  pyTelegramBotApi,
  effectTelegramApi,
  typescriptTelegramBotApi,
  nodeTelegramBotApi,
  javaTelegramBotApi,
  westacksTelebot,
  telegramBotRuby,
  rTelegramBot,
]
