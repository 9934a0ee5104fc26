/** The suites of JavaScript libraries. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { picture } from '../../service/files.ts'
import { reported } from './outcomes.ts'
import { fileAt } from './scene.ts'
import { type Environment, type Replaced, run, type Suite } from './suite.ts'

/** Installs no more than what the tests need, whatever the authors write and check their code with. */
const byNpm =
  (packages: readonly string[], command: readonly string[]): Suite['run'] =>
  async (folder, env: Environment) => {
    const file = join(folder, 'package.json')
    const { type, dependencies = {}, name, version } = JSON.parse(await readFile(file, 'utf8'))
    const pinned = packages.map((each) => each.replace(/(?<=.)@[^@]*$/, ''))
    const needed = Object.fromEntries(
      Object.entries(dependencies).filter(([each]) => !pinned.includes(each)),
    )
    await writeFile(file, JSON.stringify({ name, version, type, dependencies: needed }))
    const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock']
    const { stderr } = await run(['npm', 'install', '--no-save', ...quietly, ...packages], folder)
    if (stderr.includes('npm error')) throw new Error(stderr)
    return reported(['npx', ...command], folder, env)
  }

const dummyPdf = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n')

const jestOptions = JSON.stringify({
  testEnvironment: 'node',
  testTimeout: 60_000,
  transform: { '^.+\\.ts$': ['ts-jest', { diagnostics: false, isolatedModules: true }] },
  reporters: [
    [
      'jest-junit',
      {
        outputName: 'report.xml',
        classNameTemplate: '{classname}',
        titleTemplate: '{title}',
        reportTestSuiteErrors: 'true',
      },
    ],
  ],
})

/** Links of the sandbox lead nowhere else. */
const ownLinks: Replaced = [['https://t.me', 'https://sandbox.invalid']]
const ownLinksInPatterns: Replaced = [['https:\\/\\/t\\.me', 'https:\\/\\/sandbox\\.invalid']]

/** Its texts are those that the reference's server gave when the library came to be of version 10.2. */
export const typescriptTelegramBotApi: Suite = {
  name: 'typescript-telegram-bot-api',
  title: '[typescript-telegram-bot-api](https://github.com/Borodin/typescript-telegram-bot-api)',
  source: 'checkout `f98ba88` (0.18.0, API 10.2)',
  changed: ['src/index.ts', 'tests'],
  run: byNpm(
    [
      ...['jest@29', 'ts-jest@29', 'jest-junit@16', 'typescript@5', 'dotenv@16'],
      'axios-mock-adapter@2',
    ],
    [
      ...['jest', '--runInBand', '--forceExit', '--coverage=false', '--config', jestOptions],
      ...['tests/index', 'tests/polling'],
    ],
  ),
  async prepare(scene, folder) {
    const { service, ada, kim, bot, key, chat, fileId, files, served } = scene
    const group = await chat({ is_forum: true })
    const channel = await chat({ kind: 'channel', title: 'Channel' })
    const data = join(folder, 'tests/data')
    const audio = await fileAt(join(data, 'audio.mp3'))
    served.set('.mp3', audio.bytes)
    served.set('.mp4', await readFile(join(data, 'video.mp4')))
    served.set('.pdf', dummyPdf)
    const photo = { bytes: await picture(640, 480), name: 'photo.jpg' }
    for (const set of ['sticker_set', 'animals']) {
      const given = await fileAt(join(data, 'sticker.webp'))
      await scene.newStickerSet(`${set}_by_${bot.username}`, given)
    }
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
        [/'AgACAgIAAxkDAAM1[^']*'/g, `'${await fileId('photo', photo)}'`],
        [/'CQACAgIAAxkDAAOB[^']*'/g, `'${await fileId('audio', audio)}'`],
        [/'Animals'/g, `'animals_by_${bot.username}'`],
      ],
    }
  },
}

/** The last version before the library was written anew, whose suite looks at more. */
export const nodeTelegramBotApi: Suite = {
  name: 'node-telegram-bot-api',
  title: '[node-telegram-bot-api](https://github.com/yagop/node-telegram-bot-api)',
  source: 'checkout `770cfc0^` (0.68.0)',
  changed: ['src/telegram.js', 'test/telegram.js'],
  run: byNpm(
    ['mocha@3.5.3', 'is@3', 'is-ci@1', 'concat-stream@1', 'node-static@0.7'],
    [
      ...['mocha', '--opts', '/dev/null', '--timeout', '30000', '--reporter', 'xunit'],
      ...['--reporter-options', 'output=report.xml', 'test/telegram.js'],
    ],
  ),
  async prepare(scene, folder) {
    const { service, ada, bot, key, chat } = scene
    const group = await chat({})
    const set = `pusheen_by_${bot.username}`
    await scene.newStickerSet(set, await fileAt(join(folder, 'test/data/sticker.webp')))
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
        ...ownLinksInPatterns,
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
  name: 'effect-telegram-api',
  title: '[effect-telegram-api](https://github.com/atahanyorganci/effect-telegram-api)',
  source: 'checkout `9d935d3`',
  changed: ['src', 'test'],
  run: byNpm(
    [
      ...['effect@4.0.0-beta.70', '@effect/platform-node@4.0.0-beta.70'],
      '@effect/platform-node-shared@4.0.0-beta.70',
      ...['@effect/vitest@4.0.0-beta.70', 'vitest@4.1.4', 'dotenv@17'],
    ],
    [
      ...['vitest', 'run', '--reporter=junit', '--outputFile=report.xml'],
      ...['--no-file-parallelism', '--test-timeout=30000'],
    ],
  ),
  async prepare(scene, folder) {
    // The authors' extends the one of a library that they keep a copy of.
    await writeFile(join(folder, 'tsconfig.json'), '{}')
    const { service, ada, key, chat, asAda } = scene
    const group = await chat({ is_forum: true }, rights)
    const topic = await asAda('POST', `/chats/${group}/topics`, { name: 'Topic' })
    return {
      env: {
        TELEGRAM_BOT_TOKEN: key,
        TELEGRAM_LIMITED_BOT_TOKEN: await scene.memberKey(group),
        TELEGRAM_CHAT_ID: `${ada.id}`,
        TELEGRAM_GROUP_CHAT_ID: `${group}`,
        TELEGRAM_FORUM_TOPIC_ID: `${topic.message_thread_id}`,
      },
      replaced: [['https://api.telegram.org', service.url], ...ownLinks, ...ownLinksInPatterns],
    }
  },
}
