/** Files that are made fit for their kind on the way in, as they come back out: checked by ffprobe and sharp. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import { findTools } from '../../src/media/confinement.ts'
import { callWithFiles } from './files.ts'
import { scene } from './scene.ts'

const METRICS_TOKEN = 'a-token-of-the-round-trips'
const tools = await findTools(process.env.PATH ?? '')
const skip = tools ? false : 'ffmpeg is not installed'
const folder = mkdtempSync(join(tmpdir(), 'chapar-round-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const { service, client, ada, key } = await scene(t, {
  env: { METRICS_TOKEN, PATH: process.env.PATH ?? '' },
})

/** A file made by ffmpeg. */
function made(name: string, ...args: string[]): Buffer {
  const path = join(folder, name)
  const { status, stderr } = spawnSync(tools?.ffmpeg ?? '', ['-v', 'error', '-y', ...args, path])
  if (status !== 0) throw new Error(`${stderr}`)
  return readFileSync(path)
}

function probed(bytes: Buffer) {
  const args = ['-v', 'error', '-of', 'json', '-show_streams', '-show_format', '-']
  const { stdout } = spawnSync(tools?.ffprobe ?? '', args, { input: bytes })
  const { streams, format } = JSON.parse(`${stdout}`)
  const codecs = streams.map((each: { codec_name: string }) => each.codec_name)
  return { codecs, container: format.format_name as string }
}

/** Sends a file, and fetches what became of it. */
async function sent(method: string, part: string, bytes: Buffer, name: string) {
  const files = { [part]: { bytes, name } }
  const { body } = await callWithFiles(service.url, key, method, { chat_id: ada.id }, files)
  if (!body.ok) throw new Error(body.description)
  return body.result
}

async function fetched(fileId: string): Promise<Buffer> {
  const { body } = await client.bot(key, 'getFile', { file_id: fileId })
  const answer = await fetch(`${service.url}/file/bot${key}/${body.result.file_path}`)
  return Buffer.from(await answer.arrayBuffer())
}

const sine = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=2']
const screen = ['-f', 'lavfi', '-i', 'testsrc=size=160x120:rate=10:duration=2']
const startsFast = (bytes: Buffer) => bytes.indexOf('moov') < bytes.indexOf('mdat')

for (const [name, ...codec] of [
  ['a.mp3'],
  ['a.wav'],
  ['a.flac'],
  ['a.m4a', '-c:a', 'aac'],
] as const) {
  t.test(`sendVoice makes ${name} Ogg/Opus`, { skip }, async (t) => {
    const { voice } = await sent('sendVoice', 'voice', made(name, ...sine, ...codec), name)
    t.match(voice, { mime_type: 'audio/ogg', duration: 2 })
    const bytes = await fetched(voice.file_id)
    t.equal(bytes.length, voice.file_size)
    t.same(probed(bytes), { codecs: ['opus'], container: 'ogg' })
  })
}

t.test('sendVideo makes an MP4 that plays while it loads', { skip }, async (t) => {
  const mkv = made('b.mkv', ...screen, ...sine, '-c:v', 'mpeg4', '-c:a', 'flac')
  const { video } = await sent('sendVideo', 'video', mkv, 'b.mkv')
  t.match(video, { mime_type: 'video/mp4', file_name: 'b.mp4', width: 160, height: 120 })
  const bytes = await fetched(video.file_id)
  t.same(probed(bytes).codecs, ['h264', 'aac'])
  t.ok(startsFast(bytes))
  const still = await sharp(await fetched(video.thumbnail.file_id)).metadata()
  t.match(still, { format: 'jpeg', width: video.thumbnail.width })
})

t.test('sendAnimation makes a GIF a silent MP4', { skip }, async (t) => {
  const { animation, document } = await sent(
    'sendAnimation',
    'animation',
    made('c.gif', ...screen),
    'c.gif',
  )
  t.match(animation, { mime_type: 'video/mp4', width: 160, height: 120, duration: 2 })
  t.equal(document.file_id, animation.file_id)
  const bytes = await fetched(animation.file_id)
  t.same(probed(bytes).codecs, ['h264'])
  t.ok(startsFast(bytes))
})

const drawn = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#3377aa' } })
    .png()
    .toBuffer()

t.test('sendPhoto makes JPEGs of the sizes that it names', async (t) => {
  const { photo } = await sent('sendPhoto', 'photo', await drawn(1_600, 1_200), 'd.png')
  t.ok(photo.length > 2)
  for (const { file_id, file_size, width, height } of photo) {
    const bytes = await fetched(file_id)
    t.equal(bytes.length, file_size)
    t.match(await sharp(bytes).metadata(), { format: 'jpeg', width, height })
  }
})

t.test('sendSticker makes a WebP with a side of 512', async (t) => {
  const { sticker } = await sent('sendSticker', 'sticker', await drawn(300, 200), 'e.png')
  t.match(sticker, { width: 512, height: 341 })
  const about = await sharp(await fetched(sticker.file_id)).metadata()
  t.match(about, { format: 'webp', width: 512, height: 341 })
})

t.test('operators see what was taken in and what was served', async (t) => {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  const text = await (await fetch(`${service.url}/metrics`, { headers })).text()
  t.match(text, /^chapar_media_ingests_total\{kind="photo",outcome="changed"\} 1$/m)
  t.match(text, /^chapar_media_received_bytes_total [1-9]/m)
  t.match(text, /^chapar_media_served_bytes_total [1-9]/m)
  t.match(text, /^chapar_media_tasks_waiting 0$/m)
  if (tools) t.match(text, /^chapar_media_transcoding_seconds_count\{outcome="made"\} [1-9]/m)
})
