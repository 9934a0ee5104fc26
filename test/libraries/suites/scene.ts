/** What the suites of libraries take for granted: a bot, people, chats, and files at addresses. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, extname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { RIGHTS } from '../../../machines/model/rights.ts'
import { callWithFiles, type Part, picture } from '../../service/files.ts'
import { linkedAccount } from '../../service/scene.ts'
import { listen, urlOf } from '../../support/http-server.ts'
import type { Service } from '../../support/service.ts'
import type { Testing } from '../../support/teardown.ts'

export type Scene = Awaited<ReturnType<typeof openScene>>

/** Anything, because tests look into it without a schema. */
type Value = ReturnType<typeof JSON.parse>

/** Ada owns it unless told otherwise. */
interface ChatTerms {
  readonly owner?: number
  readonly [term: string]: unknown
}

/** `name` is the bot's. It administers the chats of others. */
export async function openScene(t: Testing, service: Service, name: string) {
  const { client, bot, key } = await linkedAccount(service, name)
  const speaking = { language_code: 'en' }
  const ada = await client.person('Ada', `${name}_ada`, speaking)
  const kim = await client.person('Kim', `${name}_kim`, speaking)
  const ask = (verb: string, path: string, body: object): Promise<Value> =>
    client.result(verb, `/sandbox${path}`, body)
  /** Ada does something. */
  const asAda = (verb: string, path: string, body: object) =>
    ask(verb, `/people/${ada.id}${path}`, body)
  const administer = (chat: number, who: number, rights: readonly string[]) =>
    ask('PUT', `/chats/${chat}/members/${who}`, { role: 'admin', rights })
  const chat = async (terms: ChatTerms, rights: readonly string[] = RIGHTS): Promise<number> => {
    const made = { kind: 'supergroup', title: 'Suite', owner: ada.id, members: [kim.id], ...terms }
    const { id } = await ask('POST', '/chats', made)
    if (made.owner !== bot.id) await administer(id, bot.id, rights)
    return id
  }
  const call = async (
    method: string,
    parameters: Readonly<Record<string, unknown>>,
    files: Readonly<Record<string, Part>> = {},
  ): Promise<Value> => {
    const { body } = await callWithFiles(service.url, key, method, parameters, files)
    if (!body.ok) throw new Error(`${method}: ${body.description}`)
    return body.result
  }
  /** Sends a file to Ada. */
  const fileId = async (kind: string, part: Part, more: object = {}): Promise<string> => {
    const method = `send_${kind}`.replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase())
    const sent = await call(method, { chat_id: ada.id, ...more }, { [kind]: part })
    // A video note that is not square is a video.
    const shown = sent[kind] ?? sent.video
    return (Array.isArray(shown) ? shown.at(-1) : shown).file_id
  }
  /** A set of one sticker, which the bot makes for Ada. */
  const newStickerSet = (set: string, sticker: Part, more: object = {}) => {
    const stickers = [{ sticker: 'attach://sticker', format: 'static', emoji_list: ['🙂'] }]
    const terms = { user_id: ada.id, name: set, title: 'Set', stickers, ...more }
    return call('createNewStickerSet', terms, { sticker })
  }
  /** The key of another bot, an ordinary member of the chat. */
  const memberKey = async (chat: number): Promise<string> => {
    const other = await client.person('Other', `${name}_other`)
    const linked = await client.link(other)
    await ask('PUT', `/chats/${chat}/members/${other.id}`, { role: 'member' })
    return (await client.key(linked)).key
  }
  const write = (to: number, text: string) => asAda('POST', '/messages', { to, text })
  // Whoever a bot writes to has begun the conversation.
  await write(bot.id, '/start')
  const served = new Map<string, Buffer>()
  const files = urlOf(await listen(t, serving(served)))
  const people = { bot, ada, kim }
  const makers = { chat, administer, fileId, newStickerSet, memberKey }
  return { service, key, ...people, ...makers, asAda, write, call, files, served }
}

export const fileAt = async (path: string): Promise<Part> => ({
  bytes: await readFile(path),
  name: basename(path),
})

export async function webp(side: number): Promise<Buffer> {
  const drawn = sharp(await picture(side, side))
  return drawn.webp().toBuffer()
}

const types: Readonly<Record<string, string>> = {
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.ogg': 'audio/ogg',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
}

/** Milliseconds by which every second answer is later: a test expects that one of two requests ends before the other. */
const DISTANCE = 200

/** Answers with what is kept under the file's name or its ending, or with a picture. */
function serving(served: ReadonlyMap<string, Buffer>): RequestListener {
  let answers = 0
  return async ({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost')
    const ending = extname(pathname)
    const kept = served.get(basename(pathname)) ?? served.get(ending)
    const bytes = kept ?? (await drawn(url, ending === '.png'))
    answers += 1
    await setTimeout(answers % 2 === 0 ? DISTANCE : 0)
    response.writeHead(200, { 'content-type': types[ending] ?? 'image/jpeg' }).end(bytes)
  }
}

/** `/640/480` is of that size; pictures of two addresses differ. */
async function drawn(url: string, isPng: boolean): Promise<Buffer> {
  const [, width = '512', height = '512'] = /\/(\d+)\/(\d+)/.exec(url) ?? []
  const color = `#${createHash('md5').update(url).digest('hex').slice(0, 6)}`
  const bytes = await picture(Number(width), Number(height), color)
  return isPng ? sharp(bytes).png().toBuffer() : bytes
}

const testSources = {
  mp4: ['testsrc=size=240x240:rate=10', '-pix_fmt', 'yuv420p'],
  webm: ['testsrc=size=240x240:rate=10', '-c:v', 'libvpx'],
  gif: ['testsrc=size=240x240:rate=10'],
  mp3: ['sine'],
  ogg: ['sine', '-c:a', 'libopus'],
}

/** Where there is ffmpeg, the service looks into what it is sent. */
export async function recorded(
  type: keyof typeof testSources,
  otherwise: Buffer,
  seconds = 1,
): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'chapar-recorded-'))
  const path = join(folder, `it.${type}`)
  const words = ['-v', 'error', '-f', 'lavfi', '-i', ...testSources[type], '-t', `${seconds}`, path]
  try {
    await promisify(execFile)('ffmpeg', words)
    return await readFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return otherwise
  } finally {
    await rm(folder, { recursive: true })
  }
}
