/** The suites of Go libraries. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { film, picture, soundOf } from '../../service/files.ts'
import { goSource } from '../toolchains.ts'
import { recorded, type Scene, webp } from './scene.ts'
import { type Environment, type Outcome, type Replaced, run, type Suite } from './suite.ts'

type Place = Awaited<ReturnType<typeof openPlace>>

interface GoSuite extends Pick<Suite, 'name' | 'title' | 'bot' | 'changed'> {
  readonly module: string
  readonly version: string
  /** Where the version says nothing to a reader. */
  readonly from?: string
  /** The name of the channel, where tests expect one. */
  readonly channel?: string
  /** The folder of its tests in the module. */
  readonly tests?: string
  readonly tags?: string
  /** A film that a busy machine does not transcode in time: a short one stands in its place. */
  readonly longFilm?: string
  /** What is in the body of each test that speaks to the server. */
  readonly speaks: RegExp
  /** The place of the scene for the author's own bot, chats and files. */
  readonly replaced: (place: Place) => Replaced
  readonly env: (place: Place) => Environment
}

const goSuite = (suite: GoSuite): Suite => ({
  ...suite,
  source: suite.from ?? suite.version.slice(1),
  published: () => goSource(suite.module, suite.version),
  prepare: async (scene, folder) => {
    const place = await openPlace(scene, suite.channel)
    const { longFilm } = suite
    if (longFilm) await writeFile(join(folder, longFilm), await recorded('webm', film))
    return { env: suite.env(place), replaced: suite.replaced(place) }
  },
  run: (folder, env) => runTests(suite, join(folder, suite.tests ?? '.'), env),
})

/** A forum and a channel, and files that were sent before. */
async function openPlace(scene: Scene, channelName?: string) {
  const { service, ada, kim, bot, key, chat, call, fileId, files, served } = scene
  const owned = { owner: bot.id, members: [ada.id, kim.id] }
  const forum = await chat({ ...owned, title: 'Forum', is_forum: true })
  const username = channelName && { username: channelName }
  const channel = await chat({ ...owned, kind: 'channel', title: 'Channel', ...username })
  const messageIn = async (chat_id: number): Promise<number> =>
    (await call('sendMessage', { chat_id, text: 'before' })).message_id
  const mp4 = await recorded('mp4', film)
  const mp3 = await recorded('mp3', soundOf.mp3)
  const pdf = Buffer.from('%PDF-1.5\n')
  for (const [ending, bytes] of Object.entries({ mp4, mp3, pdf })) served.set(`.${ending}`, bytes)
  served.set('.webm', await recorded('webm', film))
  for (const name of thumbnails) served.set(name, await picture(100, 100))
  return {
    ...{ address: service.url, key, files, forum, channel, person: ada.id, guest: kim.id },
    /** A message of the private chat, and one of the forum. */
    letter: await messageIn(ada.id),
    notice: await messageIn(forum),
    fileIds: {
      photo: await fileId('photo', { bytes: await picture(), name: 'photo.jpg' }),
      animation: await fileId('animation', { bytes: mp4, name: 'animation.mp4' }),
      audio: await fileId('audio', { bytes: mp3, name: 'audio.mp3' }),
      document: await fileId('document', { bytes: pdf, name: 'document.pdf' }),
      video: await fileId('video', { bytes: mp4, name: 'video.mp4' }),
      video_note: await fileId('video_note', { bytes: mp4, name: 'note.mp4' }),
      voice: await fileId('voice', {
        bytes: await recorded('ogg', soundOf.ogg),
        name: 'voice.ogg',
      }),
      sticker: await fileId('sticker', { bytes: await webp(512), name: 'sticker.webp' }),
    },
  }
}

/** Files of the authors. */
const thumbnails = ['fe28e378784b3a4e367fb.png', 'echotron_thumb_inv.jpg']

/** Names of tests in whose bodies these words are: those that speak to a server. */
async function testsWith(folder: string, words: RegExp): Promise<readonly string[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('_test.go'))
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  const functions = texts.flatMap((text) => [...text.matchAll(/^func (Test\w+)\((.*?)^}/gms)])
  return functions.flatMap(([, name = '', body = '']) => (words.test(body) ? [name] : []))
}

interface Event {
  readonly Action: string
  readonly Test?: string
  readonly Output?: string
}

const verdicts: Readonly<Record<string, Outcome['verdict']>> = {
  pass: 'passed',
  fail: 'failed',
  skip: 'skipped',
}

/** Tests with parts are told by their parts, and by themselves only if they fail without one. */
async function runTests(
  { speaks, tags = '' }: GoSuite,
  folder: string,
  env: Environment,
): Promise<readonly Outcome[]> {
  const only = `^(${(await testsWith(folder, speaks)).join('|')})$`
  const words = ['-json', '-count=1', '-vet=off', '-timeout=800s', `-tags=${tags}`, '-run', only]
  const tools = { GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod', GOWORK: 'off' }
  const { stdout, stderr } = await run(['go', 'test', ...words, '.'], folder, { ...env, ...tools })
  const ended: Outcome[] = []
  const said = new Map<string, string>()
  const open = new Set<string>()
  for (const line of stdout.split('\n').filter(Boolean)) {
    const { Action: action, Test: name = '', Output: output = '' } = JSON.parse(line) as Event
    if (action.endsWith('output')) said.set(name, (said.get(name) ?? '') + output)
    const verdict = verdicts[action]
    if (action === 'run') open.add(name)
    if (!name || !verdict) continue
    open.delete(name)
    ended.push({ name, verdict, reason: said.get(name) ?? '' })
  }
  // What comes after a panic or the end of the time is not begun.
  for (const name of open) ended.push({ name, verdict: 'failed', reason: said.get(name) ?? '' })
  if (ended.length === 0) throw new Error(`no test ran: ${said.get('')} ${stderr}`)
  return ended.filter((one) => {
    const parts = ended.filter(({ name }) => name.startsWith(`${one.name}/`))
    const isTold = parts.some(({ verdict }) => verdict === one.verdict)
    return parts.length === 0 || (one.verdict === 'failed' && !isTold)
  })
}

const official = 'https://api.telegram.org'

const telebot: GoSuite = {
  name: 'telebot',
  title: '[telebot](https://github.com/tucnak/telebot)',
  module: 'gopkg.in/telebot.v4',
  version: 'v4.0.0-beta.10',
  changed: ['telebot.go', 'bot_test.go', 'sticker_test.go'],
  speaks: /\bnewTestBot\(\)|\bdefaultSettings\(\)|\bb == nil/,
  replaced: ({ address, files }) => [
    [official, address],
    ['https://telegra.ph', files],
    ['https://placehold.co/512/000000', `${files}/512`],
    ['FFFFFF/png', 'a.png'],
    ['999999/png', 'b.png'],
  ],
  env: ({ key, person, channel }) => ({
    TELEBOT_SECRET: key,
    CHAT_ID: `${person}`,
    USER_ID: `${person}`,
    CHANNEL_ID: `${channel}`,
  }),
}

const telebot3 = goSuite({
  ...telebot,
  name: 'telebot-v3',
  title: 'the same, `telebot-v3`',
  module: 'gopkg.in/telebot.v3',
  version: 'v3.3.8',
  // It also makes links to the chat.
  env: (place) => ({ ...telebot.env(place), CHAT_ID: `${place.forum}` }),
})

/** The author's chats, messages and files in the suite of telegram-bot-api. */
const botApiConstants = ({ address, person, forum, letter, fileIds, files }: Place): Replaced => [
  [official, address],
  ['https://github.com', files],
  // The reference has no picture taken from an address as a document, only GIF, PDF and ZIP files.
  ['https://i.imgur.com/unQLJIb.jpg', `${files}/document.pdf`],
  // Names are not looked up where there is no network.
  ['https://example.com', 'https://127.0.0.1'],
  ['76918703', `${person}`],
  ['-1001120141283', `${forum}`],
  ['ReplyToMessageID        = 35', `ReplyToMessageID = ${letter}`],
  [
    'AgACAgIAAxkDAAEBFUZhIALQ9pZN4BUe8ZSzUU_2foSo1AACnrMxG0BucEhezsBWOgcikQEAAwIAA20AAyAE',
    fileIds.photo,
  ],
  ['BQADAgADOQADjMcoCcioX1GrDvp3Ag', fileIds.document],
  ['BQADAgADRgADjMcoCdXg3lSIN49lAg', fileIds.audio],
  ['AwADAgADWQADjMcoCeul6r_q52IyAg', fileIds.voice],
  ['BAADAgADZgADjMcoCav432kYe0FRAg', fileIds.video],
  ['DQADAgADdQAD70cQSUK41dLsRMqfAg', fileIds.video_note],
  ['BQADAgADcwADjMcoCbdl-6eB--YPAg', fileIds.sticker],
]

const telegramBotApi: GoSuite = {
  name: 'telegram-bot-api',
  title: '[telegram-bot-api](https://github.com/go-telegram-bot-api/telegram-bot-api)',
  module: 'github.com/go-telegram-bot-api/telegram-bot-api/v5',
  version: 'v5.5.1',
  channel: 'tgbotapitest',
  changed: ['configs.go', 'bot_test.go'],
  speaks: /\bgetBot\(t\)/,
  replaced: (place) => [
    ...botApiConstants(place),
    ['153667468:AAHlSHlMqSt1f_uFmVRJbm5gntu2HI4WW8I', place.key],
  ],
  env: () => ({}),
}

const telegramBotApiFork = goSuite({
  ...telegramBotApi,
  name: 'OvyFlash/telegram-bot-api',
  title: '[its fork by OvyFlash](https://github.com/OvyFlash/telegram-bot-api)',
  module: 'github.com/OvyFlash/telegram-bot-api',
  version: 'v0.0.0-20260826195316-83c4eada97a1',
  from: 'of 2026-08-26',
  replaced: botApiConstants,
  env: ({ key }) => ({ TEST_TOKEN: key }),
})

const telego = goSuite({
  name: 'telego',
  title: '[telego](https://github.com/mymmrac/telego)',
  module: 'github.com/mymmrac/telego',
  version: 'v1.6.0',
  tests: 'internal/integration',
  tags: 'integration,webhook',
  changed: ['bot.go', 'internal/integration/main_test.go', 'internal/integration/webhook_test.go'],
  speaks: /\bbot\./,
  replaced: ({ address, files }) => [
    [official, address],
    // It takes only secrets of 35 characters, and ours have 43.
    ['{35}', '{43}'],
    ['https://file-examples.com', files],
    ['https://example.org', 'https://127.0.0.1'],
    // What it reads there is in the environment.
    ['os.ReadFile(".env")', 'os.ReadFile(os.DevNull)'],
  ],
  env: ({ key, person }) => ({ TOKEN: key, CHAT_ID: `${person}` }),
})

const echotron = goSuite({
  name: 'echotron',
  title: '[echotron](https://github.com/NicoNex/echotron)',
  bot: 'echotron_coverage_bot',
  module: 'github.com/NicoNex/echotron/v3',
  version: 'v3.45.0',
  changed: ['api.go', 'api_test.go'],
  longFilm: 'assets/tests/video.webm',
  speaks: /\bapi\./,
  replaced: ({ address, files, person, guest, forum, channel, notice, fileIds }) => [
    [official, address],
    ['14870908', `${person}`],
    ['41876271', `${guest}`],
    ['-1001563144067', `${channel}`],
    ['-1001265771214', `${forum}`],
    ['int(11)', `int(${notice})`],
    ['https://github.com', files],
    // Names are not looked up where there is no network.
    ['"example.com"', '"127.0.0.1"'],
    [
      'AgACAgQAAxkDAAMrYFtODxV2LL6-kR_6qSbG9n8dIOIAAti1MRug29lSkNq_9o8PC5uMd7EnXQADAQADAgADbQADeooGAAEeBA',
      fileIds.photo,
    ],
    ['CgACAgQAAxkDAAICQGBcoGs7GFJ-tR5AkbRRLFTbvdxXAAJ1CAAC1zHgUu-ciZqanytIHgQ', fileIds.animation],
    ['CQACAgQAAxkDAAIBCmBbamz_DqKk2GmrzmoM0SrzRN6wAAK9CAACoNvZUgPyk-87OM_YHgQ', fileIds.audio],
    ['BQACAgQAAxkDAANmYFtSXcF5kTtwgHeqVUngyuuJMx4AAnQIAAKg29lSb4HP4x-qMT8eBA', fileIds.document],
    ['BAACAgQAAx0EXSuvgwADGGa7vNTyDxfQiyICxWhnLUfhJphkAAIvFAACHozgUVOTwR-Bak97NQQ', fileIds.video],
    ['BAACAgQAAxkDAANxYFtaxF1kfc7nVY_Mtfba3u5dMooAAoYIAAKg29lSpwABJrcveXZlHgQ', fileIds.video],
    ['DQACAgQAAxkDAAIBumBbfT5jPC_cvyEcr0_8DpmFDz2PAALVCgACOX7hUjGZ_MmnZVVeHgQ', fileIds.video_note],
    ['AwACAgQAAxkDAAPXYFtmoFriwJFVGDgPPpfUBljgnYAAAq8IAAKg29lStEWfrNMMAxgeBA', fileIds.voice],
  ],
  env: ({ key }) => ({ TELEGRAM_TOKEN: key }),
})

export const goSuites: readonly Suite[] = [
  goSuite(telebot),
  telebot3,
  goSuite(telegramBotApi),
  telegramBotApiFork,
  telego,
  echotron,
]
