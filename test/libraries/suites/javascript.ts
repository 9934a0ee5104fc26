/** The suites of JavaScript libraries. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { outcomesOfJest, outcomesOfMocha } from './outcomes.ts'
import type { Replaced, Suite } from './suite.ts'

const sticker = 'tests/data/sticker.webp'

const jestOptions = JSON.stringify({
  testEnvironment: 'node',
  testTimeout: 60_000,
  transform: { '^.+\\.ts$': ['ts-jest', { diagnostics: false, isolatedModules: true }] },
})

/** Links of the sandbox lead nowhere else. */
const ownLinks: Replaced = [
  [/https:\/\/t\.me/g, 'https://sandbox.invalid'],
  [/https:\\\/\\\/t\\\.me/g, 'https:\\/\\/sandbox\\.invalid'],
]

const mediaFiles: Readonly<Record<string, string>> = { '.mp3': 'audio.mp3', '.mp4': 'video.mp4' }
const media = (folder: string, kind: string) =>
  readFile(join(folder, 'tests/data', mediaFiles[kind] ?? ''))

/** Its texts are those that the reference's server gave when the library came to be of version 10.2. */
export const typescriptTelegramBotApi: Suite = {
  packages: ['jest@29', 'ts-jest@29', 'typescript@5', 'dotenv@16', 'axios-mock-adapter@2'],
  changed: ['src/index.ts', 'tests'],
  command: [
    ...['npx', 'jest', '--runInBand', '--forceExit', '--coverage=false'],
    ...[
      '--config',
      jestOptions,
      '--json',
      '--outputFile=report.json',
      'tests/index',
      'tests/polling',
    ],
  ],
  outcomes: (folder) => outcomesOfJest(join(folder, 'report.json')),
  async prepare(scene, folder) {
    const { service, ada, kim, bot, key, chat, call, files } = scene
    const group = await chat({ is_forum: true })
    const channel = await chat({ kind: 'channel', title: 'Channel' })
    for (const kind of ['.mp3', '.mp4']) scene.served.set(kind, await media(folder, kind))
    const photo = await call('sendPhoto', { chat_id: ada.id, photo: `${files}/640/480` })
    const audio = await call('sendAudio', { chat_id: ada.id, audio: `${files}/song.mp3` })
    const set = `sticker_set_by_${bot.username}`
    await scene.newStickerSet(set, ada.id, join(folder, sticker))
    await scene.newStickerSet(`animals_by_${bot.username}`, ada.id, join(folder, sticker))
    return {
      env: {
        TEST_TELEGRAM_TOKEN: key,
        TEST_USER_ID: `${ada.id}`,
        TEST_GROUP_ID: `${group}`,
        TEST_GROUP_MEMBER_ID: `${kim.id}`,
        TEST_CHANNEL_ID: `${channel}`,
      },
      replaced: [
        ['https://api.telegram.org', service.url],
        [/(baseURL: )'https:\/\/example\.com'/g, `$1'${files}'`],
        ['https://example.com', 'https://127.0.0.1:9'],
        ...ownLinks,
        ['https://unsplash.it', files],
        [/https:\/\/(www\.soundhelix\.com|www\.w3\.org|sample-videos\.com)\//g, `${files}/`],
        [/'AgACAgIAAxkDAAM1[^']*'/g, `'${photo.photo[0].file_id}'`],
        [/'CQACAgIAAxkDAAOB[^']*'/g, `'${audio.audio.file_id}'`],
        [/'Animals'/g, `'animals_by_${bot.username}'`],
      ],
    }
  },
}

/** The last version before the library was written anew, whose suite looks at more. */
export const nodeTelegramBotApi: Suite = {
  packages: ['mocha@3.5.3', 'is@3', 'is-ci@1', 'concat-stream@1', 'node-static@0.7'],
  changed: ['src/telegram.js', 'test/telegram.js'],
  command: [
    ...['npx', 'mocha', '--opts', '/dev/null', '--reporter', 'json', '--timeout', '30000'],
    'test/telegram.js',
  ],
  printed: 'report.json',
  outcomes: (folder) => outcomesOfMocha(join(folder, 'report.json')),
  async prepare(scene, folder) {
    const { service, ada, bot, key, chat } = scene
    const group = await chat({})
    const set = `pusheen_by_${bot.username}`
    await scene.newStickerSet(set, ada.id, join(folder, 'test/data/sticker.webp'))
    return {
      env: {
        TEST_TELEGRAM_TOKEN: key,
        TEST_USER_ID: `${ada.id}`,
        TEST_GROUP_ID: `${group}`,
        TEST_GAME_SHORT_NAME: 'medusalab_test',
        TEST_STICKER_SET_NAME: set,
      },
      replaced: [
        ['https://api.telegram.org', service.url],
        ...ownLinks,
        ['216.58.210.174', '127.0.0.1:9'],
      ],
    }
  },
}

/** Rights with which its authors' bot administers the group: topics are not among them. */
const rights = [
  ...['manage_chat', 'change_info', 'delete_messages', 'invite_users'],
  ...['restrict_members', 'pin_messages', 'promote_members'],
]

/** Compares the words of refusals with those of the reference's server, for nearly all methods. */
export const effectTelegramApi: Suite = {
  packages: [
    ...['effect@4.0.0-beta.70', '@effect/platform-node@4.0.0-beta.70'],
    '@effect/platform-node-shared@4.0.0-beta.70',
    ...['@effect/vitest@4.0.0-beta.70', 'vitest@4.1.4', 'dotenv@17'],
  ],
  changed: ['src', 'test'],
  command: [
    ...['npx', 'vitest', 'run', '--reporter=json', '--outputFile=report.json'],
    ...['--no-file-parallelism', '--test-timeout=30000'],
  ],
  outcomes: (folder) => outcomesOfJest(join(folder, 'report.json')),
  async prepare(scene, folder) {
    // The authors' extends the one of a library that they keep a copy of.
    await writeFile(join(folder, 'tsconfig.json'), '{}')
    const { service, client, ada, bot, key, chat } = scene
    const group = await chat({ is_forum: true })
    const place = `/sandbox/people/${ada.id}/chats/${group}/topics`
    const topic = await client.result('POST', place, { name: 'Topic' })
    const member = { role: 'admin', rights }
    await client.result('PUT', `/sandbox/chats/${group}/members/${bot.id}`, member)
    return {
      env: {
        TELEGRAM_BOT_TOKEN: key,
        TELEGRAM_LIMITED_BOT_TOKEN: await scene.memberKey(group),
        TELEGRAM_CHAT_ID: `${ada.id}`,
        TELEGRAM_GROUP_CHAT_ID: `${group}`,
        TELEGRAM_FORUM_TOPIC_ID: `${topic.message_thread_id}`,
      },
      replaced: [['https://api.telegram.org', service.url], ...ownLinks],
    }
  },
}
