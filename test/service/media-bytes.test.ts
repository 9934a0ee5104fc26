/** A file that is fit for its kind comes back byte for byte, whatever the network: out by a bot, and in from others. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Document, Photo, type tl } from '@mtcute/core'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { findTools } from '../../src/media/confinement.ts'
import { linkOver } from '../platforms/telegram/over-http.ts'
import { Stage } from '../platforms/telegram/stage.ts'
import { linkBot } from '../platforms/upstream-bot/chain.ts'
import { startStub, token } from '../platforms/upstream-bot/stub.ts'
import { type Client, until } from '../support/client.ts'
import { prosodyMissing } from '../support/prosody.ts'
import { type Service, startService } from '../support/service.ts'
import { photoOf } from '../support/telegram-dc/media.ts'
import { callWithFiles } from './files.ts'
import { refused, scene } from './scene.ts'
import { linkedXmpp } from './xmpp-scene.ts'

const tools = await findTools(process.env.PATH ?? '')
const folder = mkdtempSync(join(tmpdir(), 'chapar-bytes-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const env = { PATH: process.env.PATH ?? '' }

/** A file made by ffmpeg. */
function made(name: string, ...args: string[]): Buffer {
  const path = join(folder, name)
  const { status, stderr } = spawnSync(tools?.ffmpeg ?? '', ['-v', 'error', '-y', ...args, path])
  if (status !== 0) throw new Error(`${stderr}`)
  return readFileSync(path)
}

const sine = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=1']
const screen = (size: string) => ['-f', 'lavfi', '-i', `testsrc=size=${size}:rate=10:duration=1`]
const h264 = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-movflags', '+faststart']
const drawn = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#3377aa' } })

/** Of every kind a file that is fit for it: nothing has to be changed. */
const fit: Readonly<Record<string, { readonly name: string; readonly bytes: Buffer }>> = {
  photo: { name: 'a.jpg', bytes: await drawn(640, 480).jpeg().toBuffer() },
  document: { name: 'a.bin', bytes: randomBytes(100_000) },
  sticker: { name: 'a.webp', bytes: await drawn(512, 300).webp().toBuffer() },
  ...(tools && {
    video: { name: 'a.mp4', bytes: made('a.mp4', ...screen('160x120'), ...sine, ...h264) },
    animation: { name: 'b.mp4', bytes: made('b.mp4', ...screen('160x120'), '-an', ...h264) },
    video_note: { name: 'c.mp4', bytes: made('c.mp4', ...screen('240x240'), ...sine, ...h264) },
    audio: { name: 'a.mp3', bytes: made('a.mp3', ...sine) },
    voice: { name: 'a.ogg', bytes: made('a.ogg', ...sine, '-c:a', 'libopus') },
  }),
}

const methodOf = (kind: string) =>
  `send${kind.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())}`

type Sent = Record<string, { file_id: string } | { file_id: string }[]>
/** Networks with fewer kinds send some as another one. */
const fileIdOf = (message: Sent, kind: string): string =>
  [message[kind] ?? message.document ?? message.video ?? message.audio].flat().at(-1)!.file_id

interface Place {
  readonly service: Service
  readonly client: Client
  readonly key: string
  readonly chat: number | string
}

async function fetched({ service, client, key }: Place, fileId: string): Promise<Buffer> {
  const { body } = await client.bot(key, 'getFile', { file_id: fileId })
  if (!body.ok) throw new Error(body.description)
  const answer = await fetch(`${service.url}/file/bot${key}/${body.result.file_path}`)
  return Buffer.from(await answer.arrayBuffer())
}

async function sentBy({ service, key, chat }: Place, kind: string) {
  const files = { [kind]: fit[kind]! }
  const parameters = { chat_id: chat }
  const { body } = await callWithFiles(service.url, key, methodOf(kind), parameters, files)
  if (!body.ok) throw new Error(body.description)
  return body.result
}

async function roundTrips(t: Test, place: Place, kinds = Object.keys(fit)) {
  for (const kind of kinds) {
    const message = await sentBy(place, kind)
    const bytes = await fetched(place, fileIdOf(message, kind))
    t.ok(bytes.equals(fit[kind]!.bytes), `${kind}, sent by the bot`)
  }
}

t.test('the sandbox', async (t) => {
  const { service, client, bot, ada, key } = await scene(t, { env })
  const place = { service, client, key, chat: ada.id }
  await roundTrips(t, place)
  for (const [kind, { bytes }] of Object.entries(fit)) {
    const media = { type: kind, data: bytes.toString('base64') }
    await client.result('POST', `/sandbox/people/${ada.id}/messages`, { to: bot.id, media })
    const { message, update_id } = await until(
      async () => (await client.bot(key, 'getUpdates')).body.result[0],
    )
    await client.bot(key, 'getUpdates', { offset: update_id + 1 })
    t.ok((await fetched(place, fileIdOf(message, kind))).equals(bytes), `${kind}, sent to the bot`)
  }
})

t.test('Telegram', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  let service: Service | undefined
  const media = { open: async (blob: string) => service!.gateway.media.service.open(blob) }
  service = await startService(t, { env, platforms: [stage.platform({ media })] })
  const client = await service.client()
  const [person, friend] = [network.person(), network.person()]
  const { key } = await linkOver(client, person)
  const place = { service, client, key, chat: friend.id }
  await roundTrips(t, place)

  await t.test('a file_id of its own is taken', async (t) => {
    const { files } = network
    const document = await sentBy(place, 'document')
    const raw = [...files.documents.values()].at(-1)!
    const photo = new Photo(photoOf(files, files.add(fit.photo!.bytes)) as tl.RawPhoto)
    const send = (method: string, parameters: object) =>
      client.bot(key, method, { chat_id: friend.id, ...parameters })
    const again = await send('sendDocument', { document: new Document(raw).fileId })
    const name = document.document.file_unique_id
    t.match(again.body, { result: { document: { file_unique_id: name } } })
    const shown = await send('sendPhoto', { photo: photo.fileId })
    t.match(shown.body, { ok: true })
    t.ok((await fetched(place, fileIdOf(shown.body.result, 'photo'))).equals(fit.photo!.bytes))
    t.match(
      await send('sendDocument', { document: 'AgAD-no-file' }),
      refused(400, 'Bad Request: wrong file identifier/HTTP URL specified'),
    )
  })
})

t.test('XMPP', { skip: prosodyMissing ?? false }, async (t) => {
  const { service, client, friend, friendJid, key } = await linkedXmpp(t, 'bytes', { env })
  const place = { service, client, key, chat: `@${friendJid}` }
  const kinds = Object.keys(fit).filter((kind) => !['sticker', 'video_note'].includes(kind))
  await roundTrips(t, place, kinds)
  const { link } = await friend.sees((seen) => seen.link?.endsWith('/a.bin') === true)
  const shared = Buffer.from(await (await fetch(link!)).arrayBuffer())
  t.ok(shared.equals(fit.document!.bytes), 'a document, as others get it')
})

t.test('a bot that is passed through', async (t) => {
  const stub = await startStub(t)
  const service = await startService(t, { env: { TELEGRAM_BOT_API_URL: stub.url } })
  const client = await service.client()
  const { key } = await client.key(await linkBot(client, { token }))
  for (const [kind, { bytes }] of Object.entries(fit)) {
    // The stub's answer is `true`, which is no message.
    const form = new FormData()
    form.set('chat_id', '42')
    form.set(kind, new Blob([new Uint8Array(bytes)]), 'file')
    await fetch(`${service.url}/bot${key}/${methodOf(kind)}`, { method: 'POST', body: form })
    const arrived = stub.last(methodOf(kind))?.bytes
    t.ok(arrived?.includes(bytes), `${kind}, sent by the bot`)
    stub.next('a.bin', (response) => void response.writeHead(200).end(bytes))
    const answer = await fetch(`${service.url}/file/bot${key}/a.bin`)
    t.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes), `${kind}, of the network`)
  }
})
