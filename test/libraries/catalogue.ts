/** The libraries and programs that judge the service. */
import type { Mode } from './bot-process.ts'
import { chatSdkSteps } from './steps/chat-sdk.ts'
import { flowSteps, nodeSteps } from './steps/flows.ts'
import {
  attachmentSteps,
  gatewaySteps,
  homeSteps,
  noticeSteps,
  notifyingGatewaySteps,
} from './steps/notices.ts'
import { pluginSteps } from './steps/plugins.ts'
import type { Step } from './steps/step.ts'
import type { Toolchain } from './toolchains.ts'

export interface Library {
  readonly name: string
  readonly page: string
  readonly toolchain: Toolchain
  /** The file behind the protocol, in the folder of its toolchain. */
  readonly adapter: string
  /** By polling and by webhook unless told otherwise. */
  readonly modes?: readonly Mode[]
  /** In place of the common script: the steps of a program that does one thing. */
  readonly script?: readonly Step[]
  /** Steps for what it alone has. */
  readonly more?: readonly Step[]
}

export const libraries: readonly Library[] = [
  {
    name: 'python-telegram-bot',
    page: 'https://python-telegram-bot.org',
    toolchain: 'python',
    adapter: 'ptb.py',
  },
  {
    name: 'aiogram',
    page: 'https://aiogram.dev',
    toolchain: 'python',
    adapter: 'aiogram_bot.py',
  },
  {
    name: 'pyTelegramBotAPI',
    page: 'https://github.com/eternnoir/pyTelegramBotAPI',
    toolchain: 'python',
    adapter: 'telebot_bot.py',
  },
  {
    name: 'telegrinder',
    page: 'https://github.com/timoniq/telegrinder',
    toolchain: 'telegrinder',
    adapter: 'telegrinder_bot.py',
  },
  {
    name: 'NoneBot',
    page: 'https://github.com/nonebot/adapter-telegram',
    toolchain: 'nonebot',
    adapter: 'nonebot_bot.py',
  },
  {
    name: 'grammY',
    page: 'https://grammy.dev',
    toolchain: 'javascript',
    adapter: 'grammy.mjs',
  },
  {
    name: 'grammY with plugins',
    page: 'https://grammy.dev/plugins',
    toolchain: 'javascript',
    adapter: 'grammy-plugins.mjs',
    more: pluginSteps,
  },
  {
    name: 'Telegraf',
    page: 'https://telegraf.js.org',
    toolchain: 'javascript',
    adapter: 'telegraf.mjs',
  },
  {
    name: 'GramIO',
    page: 'https://gramio.dev',
    toolchain: 'javascript',
    adapter: 'gramio.mjs',
  },
  {
    name: 'puregram',
    page: 'https://github.com/nitreojs/puregram',
    toolchain: 'javascript',
    adapter: 'puregram.mjs',
  },
  {
    name: 'node-telegram-bot-api',
    page: 'https://github.com/yagop/node-telegram-bot-api',
    toolchain: 'javascript',
    adapter: 'ntba.mjs',
  },
  {
    name: 'Chat SDK',
    page: 'https://chat-sdk.dev/adapters/official/telegram',
    toolchain: 'javascript',
    adapter: 'chat-sdk.mjs',
    script: chatSdkSteps,
  },
  {
    name: 'telebot',
    page: 'https://github.com/tucnak/telebot',
    toolchain: 'go',
    adapter: 'telebot/main.go',
  },
  {
    name: 'go-telegram/bot',
    page: 'https://github.com/go-telegram/bot',
    toolchain: 'go',
    adapter: 'gotelegram/main.go',
  },
  {
    name: 'telego',
    page: 'https://github.com/mymmrac/telego',
    toolchain: 'go',
    adapter: 'telego/main.go',
  },
  {
    name: 'gotgbot',
    page: 'https://github.com/PaulSonOfLars/gotgbot',
    toolchain: 'go',
    adapter: 'gotgbot/main.go',
  },
  {
    name: 'telegram-bot-api',
    page: 'https://go-telegram-bot-api.dev',
    toolchain: 'go',
    adapter: 'tgbotapi/main.go',
  },
  {
    name: 'frankenstein',
    page: 'https://github.com/ayrat555/frankenstein',
    toolchain: 'rust',
    adapter: 'src/bin/frankenstein.rs',
  },
  {
    name: 'teloxide',
    page: 'https://github.com/teloxide/teloxide',
    toolchain: 'rust',
    adapter: 'src/bin/teloxide.rs',
  },
  {
    name: 'telers',
    page: 'https://github.com/Desiders/telers',
    toolchain: 'rust',
    adapter: 'src/bin/telers.rs',
  },
  {
    name: 'telegrambots',
    page: 'https://rubenlagus.github.io/TelegramBotsDocumentation/',
    toolchain: 'java',
    adapter: 'src/main/java/Telegrambots.java',
  },
  {
    name: 'java-telegram-bot-api',
    page: 'https://github.com/pengrad/java-telegram-bot-api',
    toolchain: 'java',
    adapter: 'src/main/java/JavaTelegramBotApi.java',
  },
  {
    name: 'Node-RED',
    page: 'https://flows.nodered.org/node/node-red-contrib-telegrambot',
    toolchain: 'node-red',
    adapter: 'node-red.mjs',
    modes: ['polling'],
    script: flowSteps,
  },
  {
    name: 'n8n',
    page: 'https://docs.n8n.io/integrations/builtin/app-nodes/n8n-nodes-base.telegram/',
    toolchain: 'n8n',
    adapter: 'n8n.mjs',
    modes: ['webhook'],
    script: nodeSteps,
  },
  {
    name: 'OpenClaw',
    page: 'https://docs.openclaw.ai/channels/telegram',
    toolchain: 'openclaw',
    adapter: 'openclaw.mjs',
    script: notifyingGatewaySteps,
  },
  {
    name: 'Hermes',
    page: 'https://hermes-agent.nousresearch.com/docs/user-guide/messaging/telegram',
    toolchain: 'hermes',
    adapter: 'hermes_gateway.py',
    script: gatewaySteps,
  },
  {
    name: 'Home Assistant',
    page: 'https://www.home-assistant.io/integrations/telegram_bot',
    toolchain: 'home-assistant',
    adapter: 'home_assistant.py',
    modes: ['polling'],
    script: homeSteps,
  },
  {
    name: 'Apprise',
    page: 'https://appriseit.com/services/telegram/',
    toolchain: 'python',
    adapter: 'apprise_notices.py',
    modes: ['sending'],
    script: [...noticeSteps, ...attachmentSteps],
  },
  {
    name: 'Alertmanager',
    page: 'https://prometheus.io/docs/alerting/latest/configuration/#telegram_config',
    toolchain: 'alertmanager',
    adapter: 'alertmanager.mjs',
    modes: ['sending'],
    script: noticeSteps,
  },
]
