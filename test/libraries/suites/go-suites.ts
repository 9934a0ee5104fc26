/** Suites of Go libraries that their authors run against a real server. */
import type { Changes, GoModule } from './go-module.ts'
import type { Names, Scene } from './go-scene.ts'

export interface GoSuite extends GoModule {
  readonly name: string
  readonly names: Names
  /** The folder of its tests in the module. */
  readonly folder?: string
  readonly tags?: string
  /** What is in the body of each test that speaks to the server. */
  readonly speaks: RegExp
  /** Puts the scene in the place of the author's own bot, chats and files. */
  readonly changes: (scene: Scene) => Changes
  readonly env?: (scene: Scene) => Readonly<Record<string, string>>
  /** Written anew, because the repository of the library has it elsewhere. */
  readonly files?: (scene: Scene) => Readonly<Record<string, string>>
  /** Each with its reason. */
  readonly leftOut: Readonly<Record<string, string>>
}

const official = 'https://api.telegram.org'

const telebot: GoSuite = {
  name: 'telebot',
  module: 'gopkg.in/telebot.v4',
  version: 'v4.0.0-beta.10',
  names: { bot: 'telebot_suite_bot' },
  speaks: /\bnewTestBot\(\)|\bdefaultSettings\(\)|\bb == nil/,
  changes: ({ address, files }) => ({
    'telebot.go': { [official]: address },
    'bot_test.go': { 'https://telegra.ph': files },
    'sticker_test.go': {
      'https://placehold.co/512/000000': `${files}/512`,
      'FFFFFF/png': 'a.png',
      '999999/png': 'b.png',
    },
  }),
  env: ({ key, person, channel }) => ({
    TELEBOT_SECRET: key,
    CHAT_ID: `${person}`,
    USER_ID: `${person}`,
    CHANNEL_ID: `${channel}`,
  }),
  leftOut: {
    TestRaw: 'it expects "Not Found", and the reference says "Not Found: method not found"',
  },
}

/** The author's chats, messages and files in the suite of telegram-bot-api. */
const botApiConstants = ({ person, forum, letter, fileIds, files }: Scene) => ({
  'https://github.com': files,
  // The reference has no picture taken from an address as a document, only GIF, PDF and ZIP files.
  'https://i.imgur.com/unQLJIb.jpg': `${files}/document.pdf`,
  // Names are not looked up where there is no network.
  'https://example.com': 'https://127.0.0.1',
  '76918703': `${person}`,
  '-1001120141283': `${forum}`,
  'ReplyToMessageID        = 35': `ReplyToMessageID = ${letter}`,
  AgACAgIAAxkDAAEBFUZhIALQ9pZN4BUe8ZSzUU_2foSo1AACnrMxG0BucEhezsBWOgcikQEAAwIAA20AAyAE:
    fileIds.photo,
  BQADAgADOQADjMcoCcioX1GrDvp3Ag: fileIds.document,
  BQADAgADRgADjMcoCdXg3lSIN49lAg: fileIds.audio,
  AwADAgADWQADjMcoCeul6r_q52IyAg: fileIds.voice,
  BAADAgADZgADjMcoCav432kYe0FRAg: fileIds.video,
  DQADAgADdQAD70cQSUK41dLsRMqfAg: fileIds.video_note,
  'BQADAgADcwADjMcoCbdl-6eB--YPAg': fileIds.sticker,
})

const telegramBotApi: GoSuite = {
  name: 'telegram-bot-api',
  module: 'github.com/go-telegram-bot-api/telegram-bot-api/v5',
  version: 'v5.5.1',
  names: { bot: 'tgbotapi_suite_bot', channel: 'tgbotapitest' },
  speaks: /\bgetBot\(t\)/,
  changes: (scene) => ({
    'configs.go': { [official]: scene.address },
    'bot_test.go': {
      '153667468:AAHlSHlMqSt1f_uFmVRJbm5gntu2HI4WW8I': scene.key,
      ...botApiConstants(scene),
    },
  }),
  leftOut: {},
}

const telegramBotApiFork: GoSuite = {
  ...telegramBotApi,
  name: 'OvyFlash/telegram-bot-api',
  module: 'github.com/OvyFlash/telegram-bot-api',
  version: 'v0.0.0-20260826195316-83c4eada97a1',
  changes: (scene) => ({
    'configs.go': { [official]: scene.address },
    'bot_test.go': {
      ...botApiConstants(scene),
    },
  }),
  env: ({ key }) => ({ TEST_TOKEN: key }),
  leftOut: {},
}

const telego: GoSuite = {
  name: 'telego',
  module: 'github.com/mymmrac/telego',
  version: 'v1.6.0',
  names: { bot: 'telego_suite_bot' },
  folder: 'internal/integration',
  tags: 'integration,webhook',
  speaks: /\bbot\./,
  changes: ({ address, files }) => ({
    // It takes only secrets of 35 characters, and ours have 43.
    'bot.go': { [official]: address, '{35}': '{43}' },
    'internal/integration/main_test.go': { 'https://file-examples.com': files },
    'internal/integration/webhook_test.go': { 'https://example.org': 'https://127.0.0.1' },
  }),
  files: ({ key, person }) => ({
    'internal/integration/.env': `TOKEN=${key}\nCHAT_ID=${person}\n`,
  }),
  leftOut: {},
}

const echotron: GoSuite = {
  name: 'echotron',
  module: 'github.com/NicoNex/echotron/v3',
  version: 'v3.45.0',
  names: { bot: 'echotron_coverage_bot' },
  speaks: /\bapi\./,
  changes: ({ address, files, person, guest, forum, channel, notice, fileIds }) => ({
    'api.go': { [official]: address },
    'api_test.go': {
      '14870908': `${person}`,
      '41876271': `${guest}`,
      '-1001563144067': `${channel}`,
      '-1001265771214': `${forum}`,
      'int(11)': `int(${notice})`,
      'https://github.com': files,
      // Names are not looked up where there is no network.
      '"example.com"': '"127.0.0.1"',
      'AgACAgQAAxkDAAMrYFtODxV2LL6-kR_6qSbG9n8dIOIAAti1MRug29lSkNq_9o8PC5uMd7EnXQADAQADAgADbQADeooGAAEeBA':
        fileIds.photo,
      'CgACAgQAAxkDAAICQGBcoGs7GFJ-tR5AkbRRLFTbvdxXAAJ1CAAC1zHgUu-ciZqanytIHgQ': fileIds.animation,
      'CQACAgQAAxkDAAIBCmBbamz_DqKk2GmrzmoM0SrzRN6wAAK9CAACoNvZUgPyk-87OM_YHgQ': fileIds.audio,
      'BQACAgQAAxkDAANmYFtSXcF5kTtwgHeqVUngyuuJMx4AAnQIAAKg29lSb4HP4x-qMT8eBA': fileIds.document,
      'BAACAgQAAx0EXSuvgwADGGa7vNTyDxfQiyICxWhnLUfhJphkAAIvFAACHozgUVOTwR-Bak97NQQ': fileIds.video,
      BAACAgQAAxkDAANxYFtaxF1kfc7nVY_Mtfba3u5dMooAAoYIAAKg29lSpwABJrcveXZlHgQ: fileIds.video,
      DQACAgQAAxkDAAIBumBbfT5jPC_cvyEcr0_8DpmFDz2PAALVCgACOX7hUjGZ_MmnZVVeHgQ: fileIds.video_note,
      AwACAgQAAxkDAAPXYFtmoFriwJFVGDgPPpfUBljgnYAAAq8IAAKg29lStEWfrNMMAxgeBA: fileIds.voice,
    },
  }),
  env: ({ key }) => ({ TELEGRAM_TOKEN: key }),
  leftOut: {
    TestSendVideoNoteURL: 'the reference has video notes by an address as unsupported',
    TestDeleteStickerFromSet:
      'the sandbox takes two uploads of the same bytes for one sticker, and the set has too few left',
    TestGetForumTopicIconStickers: 'the sandbox has no custom emoji that belong to nobody',
  },
}

export const goSuites: readonly GoSuite[] = [
  telebot,
  telegramBotApi,
  telegramBotApiFork,
  telego,
  echotron,
]
