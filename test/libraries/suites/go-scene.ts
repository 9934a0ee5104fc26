/** What suites written against somebody's own bot and chats expect to find: the same chats, and files already sent. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { film as anyFilm, callWithFiles, picture, soundOf } from '../../service/files.ts'
import { linkedAccount } from '../../service/scene.ts'
import { type Service, startService } from '../../support/service.ts'

const run = promisify(execFile)
const source = {
  mp4: ['testsrc=size=240x240:rate=10', '-pix_fmt', 'yuv420p'],
  webm: ['testsrc=size=240x240:rate=10', '-c:v', 'libvpx'],
  mp3: ['sine'],
  ogg: ['sine', '-c:a', 'libopus'],
}

/** Where there is ffmpeg, the service looks into what it is sent. */
export async function recorded(
  type: keyof typeof source,
  otherwise: Buffer,
  seconds = 1,
): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'chapar-recorded-'))
  const path = join(folder, `it.${type}`)
  try {
    await run('ffmpeg', [
      '-v',
      'error',
      '-f',
      'lavfi',
      '-i',
      ...source[type],
      '-t',
      `${seconds}`,
      path,
    ])
    return await readFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return otherwise
  } finally {
    await rm(folder, { recursive: true })
  }
}

const recordings = async () => ({
  film: await recorded('mp4', anyFilm),
  otherFilm: await recorded('webm', anyFilm),
  song: await recorded('mp3', soundOf.mp3),
  voice: await recorded('ogg', soundOf.ogg),
})

type Recordings = Awaited<ReturnType<typeof recordings>>

type Closing = Parameters<typeof startService>[0]

/** By the kinds of the reference. */
const kinds = ['photo', 'animation', 'audio', 'document', 'video', 'video_note', 'voice', 'sticker']
type Kind =
  | 'photo'
  | 'animation'
  | 'audio'
  | 'document'
  | 'video'
  | 'video_note'
  | 'voice'
  | 'sticker'

export interface Scene {
  readonly address: string
  readonly key: string
  /** Who the bot writes to in private. */
  readonly person: number
  /** Somebody else in the forum. */
  readonly guest: number
  /** A supergroup with topics. */
  readonly forum: number
  readonly channel: number
  /** A message of the private chat, and one of the forum. */
  readonly letter: number
  readonly notice: number
  readonly fileIds: Readonly<Record<Kind, string>>
  /** Where files lie that are sent by their address. */
  readonly files: string
}

export interface Names {
  readonly bot: string
  readonly channel?: string
  readonly forum?: string
}

export async function openScene(t: Closing, names: Names): Promise<Scene> {
  const { PATH = '' } = process.env
  const env = { PATH, FILE_URL_ALLOW_PRIVATE: 'true', WEBHOOK_ALLOW_PRIVATE: 'true' }
  const service = await startService(t, { env })
  const { client, bot, ada, key } = await linkedAccount(service, names.bot)
  const kim = await client.person('Kim', `${names.bot}_kim`)
  const newChat = async (kind: string, more: object) =>
    (await client.result('POST', '/sandbox/chats', { kind, owner: bot.id, ...more })).id
  const members = [ada.id, kim.id]
  const forumName = names.forum && { username: names.forum }
  const channelName = names.channel && { username: names.channel }
  const forum = await newChat('supergroup', {
    title: 'Forum',
    is_forum: true,
    members,
    ...forumName,
  })
  const channel = await newChat('channel', { title: 'Channel', members, ...channelName })
  const sent = async (chat_id: number) => {
    const { body } = await client.bot(key, 'sendMessage', { chat_id, text: 'before' })
    return body.result.message_id
  }
  const made = await recordings()
  return {
    address: service.url,
    key,
    person: ada.id,
    guest: kim.id,
    forum,
    channel,
    letter: await sent(ada.id),
    notice: await sent(forum),
    fileIds: await sendEach(service, key, ada.id, made),
    files: await serveFiles(t, made),
  }
}

async function sendEach(
  service: Service,
  key: string,
  chat_id: number,
  { film, song, voice }: Recordings,
): Promise<Scene['fileIds']> {
  const sticker = await sharp(await picture(512, 512))
    .webp()
    .toBuffer()
  const bytes: Readonly<Record<Kind, Buffer>> = {
    photo: await picture(),
    animation: film,
    audio: song,
    document: Buffer.from('%PDF-1.5\n'),
    video: film,
    video_note: film,
    voice,
    sticker,
  }
  const ids: Partial<Record<Kind, string>> = {}
  for (const kind of kinds as Kind[]) {
    const part = { bytes: bytes[kind], name: nameOf[kind] }
    const method = `send_${kind}`.replace(/_(.)/g, (_, letter) => letter.toUpperCase())
    const { body } = await callWithFiles(service.url, key, method, { chat_id }, { [kind]: part })
    if (!body.ok) throw new Error(`${method}: ${body.description}`)
    const shown = body.result[kind]
    ids[kind] = (Array.isArray(shown) ? shown.at(-1) : shown).file_id
  }
  return ids as Scene['fileIds']
}

const nameOf: Readonly<Record<Kind, string>> = {
  photo: 'photo.jpg',
  animation: 'animation.mp4',
  audio: 'audio.mp3',
  document: 'document.pdf',
  video: 'video.mp4',
  video_note: 'note.mp4',
  voice: 'voice.ogg',
  sticker: 'sticker.webp',
}

const typeOf: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  webm: 'video/webm',
  mp4: 'video/mp4',
  mp3: 'audio/mpeg',
  pdf: 'application/pdf',
}

/** Serves a file of the type that the address ends with; pictures of two addresses differ. */
async function serveFiles(t: Closing, { film, otherFilm, song }: Recordings): Promise<string> {
  const bytesOf: Readonly<Record<string, Buffer>> = {
    webm: otherFilm,
    mp4: film,
    mp3: song,
    pdf: Buffer.from('%PDF-1.5\n'),
  }
  const server = createServer(async ({ url = '' }, answer) => {
    const ending = /\w+$/.exec(url)?.[0] ?? ''
    const type = typeOf[ending]
    if (!type) return answer.writeHead(404).end()
    const side = /thumb|fe28e378784b3a4e367fb/.test(url) ? 100 : 512
    const drawn = async () => {
      const color = `#${createHash('md5').update(url).digest('hex').slice(0, 6)}`
      const given = await picture(side, side, color)
      return ending === 'png' ? sharp(given).png().toBuffer() : given
    }
    const bytes = bytesOf[ending] ?? (await drawn())
    return answer.writeHead(200, { 'content-type': type }).end(bytes)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
