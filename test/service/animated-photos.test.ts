/** Animated profile photos of the sandbox: the chosen frame stands for the film, which people see moving. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import { findTools } from '../../src/media/confinement.ts'
import { callWithFiles, film, picture } from './files.ts'
import { refused, scene } from './scene.ts'

const tools = await findTools(process.env.PATH ?? '')
const bad = (description: string) => refused(400, `Bad Request: ${description}`)

/** A film that is red for a second, and blue for another one. */
function twoColours(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'chapar-animated-'))
  try {
    const path = join(folder, 'a.mp4')
    const second = (color: string) => `color=c=${color}:size=320x320:rate=10:duration=1`
    const inputs = ['red', 'blue'].flatMap((color) => ['-f', 'lavfi', '-i', second(color)])
    const joined = ['-filter_complex', '[0:v][1:v]concat=n=2:v=1', '-pix_fmt', 'yuv420p']
    const args = ['-v', 'error', ...inputs, ...joined, '-c:v', 'libx264', path]
    const { status, stderr } = spawnSync(tools?.ffmpeg ?? '', args)
    if (status !== 0) throw new Error(`${stderr}`)
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const animated = { type: 'animated', animation: 'attach://film' }

t.test('an animated photo', { skip: !tools && 'ffmpeg is not installed' }, async (t) => {
  const { service, client, bot, key } = await scene(t, { env: { PATH: process.env.PATH ?? '' } })
  const files = { film: { bytes: twoColours() } }
  const set = (photo: object) =>
    callWithFiles(service.url, key, 'setMyProfilePhoto', { photo }, files)
  const newest = async () => {
    const { body } = await client.bot(key, 'getUserProfilePhotos', { user_id: bot.id, limit: 1 })
    return body.result.photos[0].at(-1)
  }
  const colour = async () => {
    const { body } = await client.bot(key, 'getFile', { file_id: (await newest()).file_id })
    const path = `${service.url}/file/bot${key}/${body.result.file_path}`
    const { dominant } = await sharp(await (await fetch(path)).arrayBuffer()).stats()
    return dominant.r > dominant.b ? 'red' : 'blue'
  }

  await t.test('stands still at the frame that was chosen', async (t) => {
    t.match(await set(animated), { body: { ok: true, result: true } })
    t.equal(await colour(), 'red', 'the first frame where none was chosen')
    t.match(await set({ ...animated, main_frame_timestamp: 1.5 }), { status: 200 })
    t.equal(await colour(), 'blue')
    t.match(await newest(), { width: 320, height: 320 })
  })

  await t.test('moves where people see it', async (t) => {
    const { photo } = await client.result('GET', `/sandbox/people/${bot.id}`)
    t.match(photo, { type: 'photo', live: { type: 'animation', mime_type: 'video/mp4' } })
    const headers = { authorization: `Bearer ${client.token}` }
    const answer = await fetch(`${service.url}${photo.live.url}`, { headers })
    t.equal(answer.status, 200)
    t.match(
      Buffer.from(await answer.arrayBuffer())
        .subarray(4, 8)
        .toString(),
      'ftyp',
    )
  })

  await t.test('is refused where it is no film or has no such frame', async (t) => {
    const time = bad('wrong main frame timestamp specified')
    t.match(await set({ ...animated, main_frame_timestamp: -1 }), time)
    t.match(await set({ ...animated, main_frame_timestamp: 10.5 }), time)
    const late = bad('IMAGE_PROCESS_FAILED')
    t.match(await set({ ...animated, main_frame_timestamp: 5 }), late)
    const upload = bad('animation must be uploaded as an InputFile')
    t.match(await set({ type: 'animated', animation: 'https://a.example/b.mp4' }), upload)
    t.match(await set({ type: 'moving' }), bad('unsupported profile photo type specified'))
    const words = { film: { bytes: Buffer.from('plain words') } }
    const sent = { photo: animated }
    t.match(
      await callWithFiles(service.url, key, 'setMyProfilePhoto', sent, words),
      bad('VIDEO_CONTENT_TYPE_INVALID'),
    )
  })
})

t.test('without ffmpeg it is refused, and a still one is taken', async (t) => {
  const { service, key } = await scene(t, { env: { FFMPEG: '' } })
  const files = { film: { bytes: film }, picture: { bytes: await picture() } }
  const set = (photo: object) =>
    callWithFiles(service.url, key, 'setMyProfilePhoto', { photo }, files)
  t.match(await set(animated), bad('ffmpeg is not installed: films have no frames here'))
  t.match(await set({ type: 'static', photo: 'attach://picture' }), { status: 200 })
})
