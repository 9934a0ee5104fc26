/** The libraries that judge the service. */
import { pluginSteps } from './steps/plugins.ts'
import type { Step } from './steps/step.ts'
import type { Language } from './toolchains.ts'

export interface Library {
  readonly name: string
  readonly page: string
  readonly language: Language
  /** The file behind the protocol, in the folder of its language. */
  readonly adapter: string
  /** Steps for what it alone has. */
  readonly more?: readonly Step[]
}

export const libraries: readonly Library[] = [
  {
    name: 'python-telegram-bot',
    page: 'https://python-telegram-bot.org',
    language: 'python',
    adapter: 'ptb.py',
  },
  {
    name: 'aiogram',
    page: 'https://aiogram.dev',
    language: 'python',
    adapter: 'aiogram_bot.py',
  },
  {
    name: 'pyTelegramBotAPI',
    page: 'https://github.com/eternnoir/pyTelegramBotAPI',
    language: 'python',
    adapter: 'telebot_bot.py',
  },
  {
    name: 'grammY',
    page: 'https://grammy.dev',
    language: 'javascript',
    adapter: 'grammy.mjs',
  },
  {
    name: 'grammY with plugins',
    page: 'https://grammy.dev/plugins',
    language: 'javascript',
    adapter: 'grammy-plugins.mjs',
    more: pluginSteps,
  },
  {
    name: 'Telegraf',
    page: 'https://telegraf.js.org',
    language: 'javascript',
    adapter: 'telegraf.mjs',
  },
  {
    name: 'GramIO',
    page: 'https://gramio.dev',
    language: 'javascript',
    adapter: 'gramio.mjs',
  },
  {
    name: 'puregram',
    page: 'https://github.com/nitreojs/puregram',
    language: 'javascript',
    adapter: 'puregram.mjs',
  },
  {
    name: 'node-telegram-bot-api',
    page: 'https://github.com/yagop/node-telegram-bot-api',
    language: 'javascript',
    adapter: 'ntba.mjs',
  },
  {
    name: 'telebot',
    page: 'https://github.com/tucnak/telebot',
    language: 'go',
    adapter: 'telebot/main.go',
  },
  {
    name: 'go-telegram/bot',
    page: 'https://github.com/go-telegram/bot',
    language: 'go',
    adapter: 'gotelegram/main.go',
  },
  {
    name: 'telego',
    page: 'https://github.com/mymmrac/telego',
    language: 'go',
    adapter: 'telego/main.go',
  },
  {
    name: 'frankenstein',
    page: 'https://github.com/ayrat555/frankenstein',
    language: 'rust',
    adapter: 'src/bin/frankenstein.rs',
  },
  {
    name: 'telegrambots',
    page: 'https://rubenlagus.github.io/TelegramBotsDocumentation/',
    language: 'java',
    adapter: 'src/main/java/Telegrambots.java',
  },
]
