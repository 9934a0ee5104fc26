/** The tests that the authors of libraries wrote for the reference's server, against the sandbox. */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { callWithFiles, picture } from '../service/files.ts'
import { linkedAccount } from '../service/scene.ts'
import { listen, urlOf } from '../support/http-server.ts'
import { type Service, startService } from '../support/service.ts'
import { recorded } from './suites/go-scene.ts'
import { Missing, pythonSource, pythonWith, sourceFolder } from './toolchains.ts'

const folder = join(import.meta.dirname, 'suites')

interface Testing {
  teardown(work: () => Promise<void> | void): void
}

interface Surroundings {
  readonly env: Readonly<Record<string, string>>
  /** What the tests name that only the reference's server has, and what stands in its place. */
  readonly replaced: Readonly<Record<string, string>>
}

interface Suite {
  readonly name: string
  /** Where pytest is started, in the package's source, and with which words. */
  readonly at: string
  readonly words: readonly string[]
  prepare(t: Testing, service: Service, source: string): Promise<Surroundings>
}

const groupRights = [
  ...['manage_chat', 'delete_messages', 'restrict_members', 'change_info', 'invite_users'],
  ...['pin_messages', 'manage_topics'],
]
const channelRights = [
  ...['manage_chat', 'delete_messages', 'change_info', 'invite_users', 'post_messages'],
  'edit_messages',
]

/** A bot, people, and chats of theirs that the bot administers. */
async function openScene(service: Service) {
  const account = await linkedAccount(service, 'suite_bot')
  const { client, bot, ada } = account
  const kim = await client.person('Kim', 'suite_kim')
  const ask = (verb: string, path: string, body: object) =>
    client.result(verb, `/sandbox${path}`, body)
  // Who writes first lets the bot write.
  await ask('POST', `/people/${ada.id}/messages`, { to: bot.id, text: '/start' })
  const chat = async (kind: string, more: object): Promise<number> => {
    const made = { kind, owner: ada.id, members: [kim.id], ...more }
    const { id } = await ask('POST', '/chats', made)
    const rights = kind === 'channel' ? channelRights : groupRights
    await ask('PUT', `/chats/${id}/members/${bot.id}`, { role: 'admin', rights })
    return id
  }
  return { ...account, kim, ask, chat }
}

const channelName = 'pythontelegrambottests'

/** What the tests of python-telegram-bot know of their bot and its chats. */
async function openChats(scene: Awaited<ReturnType<typeof openScene>>) {
  const { bot, ada, key, ask, chat } = scene
  await ask('PATCH', `/people/${ada.id}`, { first_name: 'PTB', last_name: 'Test user' })
  const other = { manager: bot.id, first_name: 'Other', username: 'other_suite_bot' }
  const { id: robot } = await ask('POST', `/people/${ada.id}/managed_bots`, other)
  const group = await chat('supergroup', { title: `>>> telegram.Bot(test) @${bot.username}` })
  const forum = await chat('supergroup', { title: 'Forum', is_forum: true })
  const channel = await chat('channel', { title: 'Channel', username: channelName })
  const administrator = { role: 'admin', rights: channelRights }
  await ask('PUT', `/chats/${channel}/members/${robot}`, administrator)
  await ask('PUT', `/people/${ada.id}/personal_chat`, { chat: channel })
  for (const text of ['one', 'two']) {
    await ask('POST', `/people/${ada.id}/messages`, { to: channel, text })
  }
  const photo = { data: (await picture(640, 640)).toString('base64') }
  await ask('PUT', `/people/${ada.id}/photo`, photo)
  await ask('PUT', `/people/${ada.id}/chats/${group}/photo`, photo)
  return {
    token: key,
    payment_provider_token: 'any',
    chat_id: `${ada.id}`,
    super_group_id: `${group}`,
    forum_group_id: `${forum}`,
    channel_id: `@${channelName}`,
    subscription_channel_id: await chat('channel', { title: 'Paid' }),
    name: bot.first_name,
    username: `@${bot.username}`,
  }
}

/** Custom emoji for topics: the reference has some for everybody. */
async function makeIcons({ url }: Service, key: string, owner: number, name: string) {
  const icon = {
    bytes: await sharp(await picture(100, 100))
      .webp()
      .toBuffer(),
  }
  const stickers = [{ sticker: 'attach://icon', format: 'static', emoji_list: ['📰'] }]
  const set = { user_id: owner, name, title: 'Icons', sticker_type: 'custom_emoji', stickers }
  const { body } = await callWithFiles(url, key, 'createNewStickerSet', set, { icon })
  if (!body.ok) throw new Error(`the icons: ${body.description}`)
}

const pythonTelegramBot: Suite = {
  name: 'python-telegram-bot',
  at: '.',
  words: ['-m', 'req', 'tests'],
  async prepare(t, service, source) {
    const scene = await openScene(service)
    const { bot, ada, kim, key } = scene
    const told = await openChats(scene)
    const icons = `icons_by_${bot.username}`
    await makeIcons(service, key, ada.id, icons)
    const data = join(source, 'tests/data')
    await addFiles(data)
    const files = urlOf(await listen(t, filesIn(data)))
    const first = 'first_sticker = emoji_sticker_list[0]\n    return'
    const icon = `emoji_sticker_list = (await bot.get_sticker_set("${icons}")).stickers`
    const site = 'https://python-telegram-bot.org'
    return {
      // As their runs at GitHub name the bots. The first job looks for calls in tests that should make none.
      env: {
        GITHUB_ACTIONS: 'true',
        JOB_INDEX: '1',
        TEST_WITH_OPT_DEPS: 'true',
        BOTS: Buffer.from(JSON.stringify([told, told])).toString('base64'),
      },
      replaced: {
        '675666224': `${ada.id}`,
        '1325859552': `${kim.id}`,
        [`${site}/static/testfiles`]: files,
        [`${site}/test`]: 'https://localhost/test',
        'gethostbyname("python-telegram-bot.org")': 'gethostbyname("localhost")',
        'https://github.com/python-telegram-bot/python-telegram-bot/blob/master': files,
        'https://goo.gl/3En24v': `${files}/telegram.mp3`,
        'http://bit.ly/2L18jua': `${files}/game.gif`,
        'http://dummyimage.com/600x400/000/fff.png&text=telegram': `${files}/telegram.png`,
        'startswith("https://")': 'startswith("http://")',
        // A key begins with a number of its own, and not with that of the bot.
        'int(token.split(":", maxsplit=1)[0])': `${bot.id}`,
        // Scores are judged here, too.
        'GITHUB_ACTIONS,  # This condition': 'False,  # This condition',
        // Games of the sandbox have no animation.
        'animation.file_unique_id == game.game.animation.file_unique_id':
          'animation == game.game.animation',
        // Nor does a game that is sent anew show the scores of earlier ones.
        'assert str(score) in game2.game.text': 'assert game2.game',
        [`emoji_sticker_list = await bot.get_forum_topic_icon_stickers()\n    ${first}`]: `${icon}\n    ${first}`,
      },
    }
  },
}

const pyTelegramBotApi: Suite = {
  name: 'pyTelegramBotAPI',
  at: 'tests',
  words: ['test_telebot.py', '-k', 'TestTeleBot'],
  async prepare(t, service) {
    const { ada, key, chat } = await openScene(service)
    const image = await picture()
    const server = await listen(t, (_, response) => response.end(image))
    const group = await chat('supergroup', { title: 'Group' })
    return {
      env: { TOKEN: key, CHAT_ID: `${ada.id}`, GROUP_ID: `${group}` },
      replaced: { 'https://i.imgur.com': urlOf(server) },
    }
  },
}

const suites: readonly Suite[] = [pythonTelegramBot, pyTelegramBotApi]

const filesIn =
  (data: string): RequestListener =>
  async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const name = pathname.split('/').at(-1)?.replace('_new', '') ?? ''
    const bytes = await readFile(join(data, name)).catch(() => undefined)
    response.writeHead(bytes ? 200 : 404).end(bytes)
  }

/** Those that their authors keep out of the package. */
async function addFiles(data: string): Promise<void> {
  const others = join(await sourceOf(pyTelegramBotApi.name), 'tests/test_data')
  const image = await picture(800, 800)
  const film = await readFile(join(others, 'test_video.mp4'))
  const files = {
    'telegram.jpg': image,
    'telegram.png': await sharp(image).png().toBuffer(),
    'telegram.webp': await sharp(image).resize(512, 512).webp().toBuffer(),
    'telegram.mp3': await readFile(join(others, 'record.mp3')),
    // As long as the tests say that it is.
    'telegram.ogg': await recorded('ogg', await readFile(join(others, 'record.ogg')), 3),
    'telegram.mp4': film,
    'telegram2.mp4': film,
    'game.gif': await readFile(join(data, 'telegram.gif')),
  }
  for (const [name, bytes] of Object.entries(files)) {
    const path = join(data, name)
    const isThere = await stat(path).then(Boolean, () => false)
    if (!isThere) await writeFile(path, bytes)
  }
}

/** Of the version that the other tests of the library use. */
async function sourceOf(name: string): Promise<string> {
  const pins = await readFile(join(sourceFolder('python'), 'requirements.txt'), 'utf8')
  const pin = pins.split('\n').find((line) => line.replace(/\[.*\]/, '').startsWith(`${name}==`))
  const version = pin?.split('==')[1]
  if (!version) throw new Error(`${name} is not pinned`)
  return pythonSource(name, version)
}

async function replaceIn(tests: string, replaced: Surroundings['replaced']): Promise<void> {
  const unused = new Set(Object.keys(replaced))
  for (const name of await readdir(tests, { recursive: true })) {
    if (!name.endsWith('.py')) continue
    const path = join(tests, name)
    const before = await readFile(path, 'utf8')
    let after = before
    for (const [from, to] of Object.entries(replaced)) {
      if (after.includes(from)) unused.delete(from)
      after = after.replaceAll(from, to)
    }
    if (after !== before) await writeFile(path, after)
  }
  if (unused.size > 0) throw new Error(`no test names ${[...unused].join(', ')}`)
}

/** What became of each test: its name and a reason. */
type Told = readonly (readonly [name: string, reason: string])[]

interface Outcome {
  readonly passed: Told
  readonly failed: Told
  readonly skipped: Told
}

async function runSuite(suite: Suite): Promise<Outcome> {
  const closing: (() => Promise<void> | void)[] = []
  const t = { teardown: (work: () => Promise<void> | void) => void closing.unshift(work) }
  try {
    const kept = await sourceOf(suite.name)
    const python = await pythonWith(folder, ['../python/requirements.txt'])
    const service = await startService(t, { env: { PATH: process.env.PATH ?? '' } })
    const made = await mkdtemp(join(tmpdir(), 'chapar-suite-'))
    t.teardown(() => rm(made, { recursive: true, force: true }))
    const source = join(made, 'source')
    await cp(kept, source, { recursive: true })
    const { env, replaced } = await suite.prepare(t, service, source)
    await replaceIn(join(source, 'tests'), replaced)
    const outcome = join(made, 'outcome.json')
    const printed = await pytest(join(python, 'bin/python'), suite.words, {
      cwd: join(source, suite.at),
      env: {
        ...process.env,
        ...env,
        CHAPAR: service.url,
        LEFT_OUT: join(folder, `${suite.name}.txt`),
        OUTCOME: outcome,
        PYTHONPATH: folder,
        PYTHONDONTWRITEBYTECODE: '1',
      },
    })
    const told = await readFile(outcome, 'utf8').catch(() => undefined)
    if (told === undefined) throw new Error(`pytest ended early: ${printed.slice(-3_000)}`)
    return JSON.parse(told)
  } finally {
    for (const close of closing) await close()
  }
}

/** Each test once: a second try would hide what is amiss now and then. */
const once = ['-p', 'on_chapar', '-p', 'no:flaky', '-p', 'no:cacheprovider', '-o', 'addopts=', '-q']

const pytest = (
  python: string,
  words: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
) =>
  new Promise<string>((resolve) => {
    const limits = { maxBuffer: 64 << 20, timeout: 15 * 60_000 }
    // It ends badly where a test fails, which it also writes down.
    execFile(
      python,
      ['-m', 'pytest', ...once, ...words],
      { ...options, ...limits },
      (_, out, err) => resolve(`${out}${err}`),
    )
  })

/** Resolves with the number of tests that failed. */
export async function runSuites(
  names: readonly string[] | undefined,
  isVerbose: boolean,
  print: (line: string) => void,
): Promise<number> {
  let failures = 0
  for (const suite of suites.filter(({ name }) => !names || names.includes(name))) {
    const began = performance.now()
    try {
      const { passed, failed, skipped } = await runSuite(suite)
      const seconds = Math.round((performance.now() - began) / 1000)
      const counts = `${passed.length} passed, ${failed.length} failed, ${skipped.length} skipped`
      print(`suite ${suite.name}: ${counts} (${seconds} s)`)
      for (const [name, reason] of failed) print(`  ${name} failed: ${reason.slice(0, 900)}`)
      if (isVerbose) for (const [name, reason] of skipped) print(`  ${name} skipped: ${reason}`)
      failures += failed.length
    } catch (error) {
      if (!(error instanceof Missing)) throw error
      print(`suite ${suite.name} skipped: ${error.message}`)
    }
  }
  return failures
}
