/** The suites of Python libraries. */
import { readFileSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { picture } from '../../service/files.ts'
import { pythonSource, pythonWith, sourceFolder } from '../toolchains.ts'
import { reported } from './outcomes.ts'
import { recorded, type Scene, webp } from './scene.ts'
import type { Replaced, Suite } from './suite.ts'

/** Each test once: a second try would hide what is amiss now and then. */
const once = ['-p', 'on_chapar', '-p', 'no:flaky', '-p', 'no:cacheprovider', '-o', 'addopts=', '-q']

const pins = readFileSync(join(sourceFolder('python'), 'requirements.txt'), 'utf8').split('\n')

/** The one that the other tests of the library use. */
function versionOf(name: string): string {
  const pin = pins.find((line) => line.replace(/\[.*\]/, '').startsWith(`${name}==`))
  const version = pin?.split('==')[1]
  if (!version) throw new Error(`${name} is not pinned`)
  return version
}

const publishedSource = (name: string) => pythonSource(name, versionOf(name))

interface PythonSuite extends Pick<Suite, 'name' | 'title' | 'prepare'> {
  /** Where pytest is started in the source, and with which words. */
  readonly at: string
  readonly words: readonly string[]
}

const pythonSuite = ({ name, title, at, words, prepare }: PythonSuite): Suite => ({
  name,
  title,
  source: versionOf(name),
  published: () => publishedSource(name),
  changed: ['tests'],
  prepare: async (scene, folder) => {
    const { env, replaced } = await prepare(scene, folder)
    return { env: { ...env, CHAPAR: scene.service.url }, replaced }
  },
  run: async (folder, env) => {
    const python = await pythonWith(import.meta.dirname, ['../python/requirements.txt'])
    const pytest = [join(python, 'bin/python'), '-m', 'pytest', '--junitxml=report.xml', ...once]
    const found = { PYTHONPATH: import.meta.dirname, PYTHONDONTWRITEBYTECODE: '1' }
    return reported([...pytest, ...words], join(folder, at), { ...env, ...found })
  },
})

const groupRights = [
  ...['manage_chat', 'delete_messages', 'restrict_members', 'change_info', 'invite_users'],
  ...['pin_messages', 'manage_topics'],
]
const channelRights = [
  ...['manage_chat', 'delete_messages', 'change_info', 'invite_users', 'post_messages'],
  'edit_messages',
]
const channelName = 'pythontelegrambottests'

/** What the tests of python-telegram-bot know of their bot and its chats. */
async function openChats({ bot, ada, key, chat, administer, asAda, write }: Scene) {
  await asAda('PATCH', '', { first_name: 'PTB', last_name: 'Test user' })
  const other = { manager: bot.id, first_name: 'Other', username: 'other_suite_bot' }
  const { id: robot } = await asAda('POST', '/managed_bots', other)
  const group = await chat({ title: `>>> telegram.Bot(test) @${bot.username}` }, groupRights)
  const forum = await chat({ title: 'Forum', is_forum: true }, groupRights)
  const newChannel = (terms: object) => chat({ kind: 'channel', ...terms }, channelRights)
  const channel = await newChannel({ title: 'Channel', username: channelName })
  await administer(channel, robot, channelRights)
  await asAda('PUT', '/personal_chat', { chat: channel })
  for (const text of ['one', 'two']) await write(channel, text)
  const photo = { data: (await picture(640, 640)).toString('base64') }
  await asAda('PUT', '/photo', photo)
  await asAda('PUT', `/chats/${group}/photo`, photo)
  return {
    token: key,
    payment_provider_token: 'any',
    chat_id: `${ada.id}`,
    super_group_id: `${group}`,
    forum_group_id: `${forum}`,
    channel_id: `@${channelName}`,
    subscription_channel_id: await newChannel({ title: 'Paid' }),
    name: bot.first_name,
    username: `@${bot.username}`,
  }
}

export const pythonTelegramBot = pythonSuite({
  name: 'python-telegram-bot',
  title: '[python-telegram-bot](https://python-telegram-bot.org), those that ask the server',
  at: '.',
  words: ['-m', 'req', 'tests'],
  async prepare(scene, folder) {
    const told = await openChats(scene)
    // Custom emoji for topics: the reference has some for everybody.
    const icons = `icons_by_${scene.bot.username}`
    const emoji = { sticker_type: 'custom_emoji' }
    await scene.newStickerSet(icons, { bytes: await webp(100) }, emoji)
    await addFiles(scene, join(folder, 'tests/data'))
    // As their runs at GitHub name the bots. The first job looks for calls in tests that should make none.
    const env = {
      GITHUB_ACTIONS: 'true',
      JOB_INDEX: '1',
      TEST_WITH_OPT_DEPS: 'true',
      BOTS: Buffer.from(JSON.stringify([told, told])).toString('base64'),
    }
    return { env, replaced: replacedIn(scene, icons) }
  },
})

/** What the tests name that only the reference's server has, and what stands in its place. */
function replacedIn({ bot, ada, kim, files }: Scene, icons: string): Replaced {
  const site = 'https://python-telegram-bot.org'
  const first = 'first_sticker = emoji_sticker_list[0]\n    return'
  return [
    ['675666224', `${ada.id}`],
    ['1325859552', `${kim.id}`],
    [`${site}/static/testfiles`, files],
    [`${site}/test`, 'https://localhost/test'],
    ['gethostbyname("python-telegram-bot.org")', 'gethostbyname("localhost")'],
    ['https://github.com/python-telegram-bot/python-telegram-bot/blob/master', files],
    ['https://goo.gl/3En24v', `${files}/telegram.mp3`],
    ['http://bit.ly/2L18jua', `${files}/game.gif`],
    ['http://dummyimage.com/600x400/000/fff.png&text=telegram', `${files}/telegram.png`],
    ['startswith("https://")', 'startswith("http://")'],
    // A key begins with a number of its own, and not with that of the bot.
    ['int(token.split(":", maxsplit=1)[0])', `${bot.id}`],
    // Scores are judged here, too.
    ['GITHUB_ACTIONS,  # This condition', 'False,  # This condition'],
    // Games of the sandbox have no animation.
    [
      'animation.file_unique_id == game.game.animation.file_unique_id',
      'animation == game.game.animation',
    ],
    // Nor does a game that is sent anew show the scores of earlier ones.
    ['assert str(score) in game2.game.text', 'assert game2.game'],
    [
      `emoji_sticker_list = await bot.get_forum_topic_icon_stickers()\n    ${first}`,
      `emoji_sticker_list = (await bot.get_sticker_set("${icons}")).stickers\n    ${first}`,
    ],
  ]
}

/** Those that their authors keep out of the package, and at addresses. */
async function addFiles({ served }: Scene, data: string): Promise<void> {
  const others = join(await publishedSource('pyTelegramBotAPI'), 'tests/test_data')
  const image = await picture(800, 800)
  const film = await readFile(join(others, 'test_video.mp4'))
  const files = {
    'telegram.jpg': image,
    'telegram.png': await sharp(image).png().toBuffer(),
    'telegram.webp': await webp(512),
    'telegram.mp3': await readFile(join(others, 'record.mp3')),
    // As long as the tests say that it is.
    'telegram.ogg': await recorded('ogg', await readFile(join(others, 'record.ogg')), 3),
    'telegram.mp4': film,
    // A video note is as wide as it is high.
    'telegram2.mp4': await recorded('mp4', film, 3),
    'game.gif': await readFile(join(data, 'telegram.gif')),
    'telegram.gif': await readFile(join(data, 'telegram.gif')),
  }
  for (const [name, bytes] of Object.entries(files)) {
    const path = join(data, name)
    const isThere = await stat(path).then(Boolean, () => false)
    if (!isThere) await writeFile(path, bytes)
    served.set(name, await readFile(path))
  }
}

export const pyTelegramBotApi = pythonSuite({
  name: 'pyTelegramBotAPI',
  title: '[pyTelegramBotAPI](https://github.com/eternnoir/pyTelegramBotAPI), `test_telebot.py`',
  at: 'tests',
  words: ['test_telebot.py', '-k', 'TestTeleBot'],
  async prepare({ ada, key, files, chat }) {
    const group = await chat({ title: 'Group' }, groupRights)
    return {
      env: { TOKEN: key, CHAT_ID: `${ada.id}`, GROUP_ID: `${group}` },
      replaced: [['https://i.imgur.com', files]],
    }
  },
})
