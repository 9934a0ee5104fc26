/** The libraries that judge the service. */
import type { Language } from './toolchains.ts'

export interface Library {
  readonly name: string
  readonly page: string
  readonly language: Language
  /** The file behind the protocol, in the folder of its language. */
  readonly adapter: string
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
]
