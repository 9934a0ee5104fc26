/** Sound and film: what ffmpeg makes of them, what stays as it is, and what becomes of them without it. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import t from 'tap'
import type { Media } from '../../machines/model/media.ts'
import { findTools } from '../../src/media/confinement.ts'
import { readProbe } from '../../src/media/probe.ts'
import { drawn, serviceRig } from './service-rig.ts'

const searchPath = process.env.PATH ?? ''
const tools = await findTools(searchPath)
const skip = tools ? false : 'ffmpeg is not installed'
const folder = mkdtempSync(join(tmpdir(), 'chapar-film-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

t.test('a length that no library can hold is none', async (t) => {
  const lasting = (duration: string) =>
    readProbe(
      Buffer.from(JSON.stringify({ streams: [{ codec_type: 'audio' }], format: { duration } })),
    )
  t.match(lasting('2147483647.0'), { durationSeconds: 2_147_483_647 })
  t.notMatch(lasting('4294967294.0'), { durationSeconds: Number })
})

const sine = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=3']
const screen = (size: string) => ['-f', 'lavfi', '-i', `testsrc=size=${size}:rate=10:duration=2`]
const h264 = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-preset', 'ultrafast']

/** A file made by ffmpeg. */
function made(name: string, ...args: string[]): Buffer {
  const path = join(folder, name)
  const { status, stderr } = spawnSync(tools?.ffmpeg ?? '', ['-v', 'error', '-y', ...args, path])
  if (status !== 0) throw new Error(`${stderr}`)
  return readFileSync(path)
}

/** What ffprobe says of bytes. */
function probed(bytes: Buffer) {
  const args = ['-v', 'error', '-of', 'json', '-show_streams', '-show_format', '-']
  const { stdout } = spawnSync(tools?.ffprobe ?? '', args, { input: bytes })
  const { streams, format } = JSON.parse(`${stdout}`)
  return { codecs: streams.map((each: { codec_name: string }) => each.codec_name), format }
}

const startsFast = (bytes: Buffer) => bytes.indexOf('moov') < bytes.indexOf('mdat')

t.test('with ffmpeg', { skip }, async (t) => {
  const { ingest, bytes, left } = await serviceRig(t, { searchPath })
  const isPicture = async (thumbnail: Media | undefined) =>
    thumbnail && (await sharp(await bytes(thumbnail)).metadata()).format === 'jpeg'

  t.test('a recording becomes Ogg/Opus', async (t) => {
    const { media, notes } = await ingest('voice', made('a.mp3', ...sine), { name: 'a.mp3' })
    t.match(media, { kind: 'voice', mime: 'audio/ogg', durationSeconds: 3 })
    t.match(notes, ['the recording was made Ogg/Opus'])
    t.same(probed(await bytes(media)).codecs, ['opus'])
    const hints = { durationSeconds: 100 }
    const told = await ingest('voice', made('a.mp3', ...sine), { name: 'a.mp3', hints })
    t.match(told.media, { kind: 'voice', durationSeconds: 100 }, 'as the sender says')
  })

  t.test('one that is Ogg/Opus already stays as it is', async (t) => {
    const opus = made('b.ogg', ...sine, '-c:a', 'libopus')
    const { media, notes } = await ingest('voice', opus)
    t.match(media, { kind: 'voice', durationSeconds: 3 })
    t.same(notes, [])
    t.ok((await bytes(media)).equals(opus))
  })

  t.test('music keeps its bytes, and its tags are read', async (t) => {
    const cover = await drawn(64, 64).jpeg().toFile(join(folder, 'cover.jpg'))
    const tags = ['-metadata', 'title=Song', '-metadata', 'artist=Band']
    const tagged = ['-i', join(folder, 'cover.jpg'), '-map', '0:a', '-map', '1:v', ...tags]
    const song = made('c.mp3', ...sine, ...tagged)
    const { media } = await ingest('audio', song, { name: 'c.mp3' })
    t.match(media, { kind: 'audio', mime: 'audio/mpeg', title: 'Song', performer: 'Band' })
    t.match(media, { name: 'c.mp3', durationSeconds: 3, thumbnail: { width: cover.width * 5 } })
    t.ok((await bytes(media)).equals(song))
    t.ok(await isPicture(media.thumbnail))
    const named = await ingest('audio', song, { hints: { title: 'Other', durationSeconds: 100 } })
    t.match(named.media, { title: 'Other', performer: 'Band', durationSeconds: 100 })
  })

  t.test('a film becomes an MP4 that plays while it loads', async (t) => {
    const mkv = made('d.mkv', ...screen('321x240'), ...sine, '-c:v', 'mpeg4', '-c:a', 'flac')
    const { media, notes } = await ingest('video', mkv, { name: 'd.mkv' })
    t.match(media, { kind: 'video', mime: 'video/mp4', name: 'd.mp4', width: 320, height: 240 })
    t.same(notes, ['it was made an MP4 (H.264)'])
    const result = await bytes(media)
    t.same(probed(result).codecs, ['h264', 'aac'])
    t.ok(startsFast(result))
    t.ok(await isPicture(media.thumbnail))
  })

  t.test('one that is an MP4 already is at most put in order', async (t) => {
    const plain = made('e.mp4', ...screen('320x240'), ...h264)
    t.notOk(startsFast(plain))
    const { media, notes } = await ingest('video', plain)
    t.same(notes, ['its parts were put in order for streaming'])
    const ordered = await bytes(media)
    t.ok(startsFast(ordered))
    const again = await ingest('video', ordered)
    t.same(again.notes, [])
    t.ok((await bytes(again.media)).equals(ordered))
  })

  t.test('a GIF becomes a silent MP4', async (t) => {
    const gif = made('f.gif', ...screen('100x101'))
    const { media } = await ingest('animation', gif, { name: 'f.gif' })
    t.match(media, { kind: 'animation', mime: 'video/mp4', width: 100, height: 102 })
    t.equal(media.name, 'f.gif.mp4', 'as the reference names it')
    t.same(probed(await bytes(media)).codecs, ['h264'])
  })

  t.test('a video note is square, and what is not is a video', async (t) => {
    const large = made('g.mp4', ...screen('720x720'), ...h264)
    const { media } = await ingest('video_note', large)
    t.match(media, { kind: 'video_note', width: 384, height: 384, durationSeconds: 2 })
    const wide = await ingest('video_note', made('w.mp4', ...screen('640x360'), ...h264))
    t.match(wide.media, { kind: 'video', width: 640, height: 360, durationSeconds: 2 })
    const reordered = 'its parts were put in order for streaming'
    t.same(wide.notes, ['sent as a video: it is not square', reordered])
    const again = await ingest('video_note', await bytes(wide.media))
    t.match(again.media, { kind: 'video' })
    t.ok((await bytes(again.media)).equals(await bytes(wide.media)), 'its bytes are untouched')
  })

  t.test('what cannot be played is sent as a document, and the result says so', async (t) => {
    const cut = made('h.mp4', ...screen('320x240'), ...h264).subarray(0, 3_000)
    const cases = [
      ['video', cut, 'video/mp4'],
      ['video', Buffer.from('not a film'), 'text/plain'],
      ['voice', Buffer.from('not a sound'), 'text/plain'],
      ['audio', made('i.gif', ...screen('10x10')), 'image/gif'],
    ] as const
    for (const [kind, given, mime] of cases) {
      const { media, notes } = await ingest(kind, given, { mime: 'text/plain' })
      t.match(media, { kind: 'document', mime })
      t.match(notes, [/^sent as a document: it could not be /])
      t.ok((await bytes(media)).equals(given), 'its bytes are untouched')
    }
  })

  t.test('a playlist makes nobody read other files', async (t) => {
    const playlist = '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/etc/passwd\n#EXT-X-ENDLIST\n'
    for (const mime of ['video/mp4', 'application/vnd.apple.mpegurl', 'audio/mpegurl']) {
      const { media } = await ingest('video', playlist, { name: 'list.m3u8', mime })
      t.equal(media.kind, 'document')
      t.equal((await bytes(media)).toString(), playlist)
    }
  })

  t.test('nothing temporary is left', async (t) => {
    t.equal((await left()).temporary, 0)
  })
})

t.test('without ffmpeg', async (t) => {
  const { ingest } = await serviceRig(t, { searchPath: '' })
  const gif = await drawn(40, 30).gif().toBuffer()
  const animation = await ingest('animation', gif)
  t.match(animation, {
    media: { kind: 'animation', mime: 'image/gif', width: 40, height: 30 },
    notes: ['ffmpeg is not installed: sent as it is'],
  })
  const mp4 = Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0isomiso2mp41')
  const hints = { width: 64, height: 48, durationSeconds: 7 }
  t.match(await ingest('video', mp4, { hints }), { media: { kind: 'video', ...hints } })
  const wav = Buffer.from('RIFF\x24\0\0\0WAVEfmt ')
  t.match(await ingest('voice', wav), {
    media: { kind: 'document', mime: 'audio/wav' },
    notes: ['sent as a document: ffmpeg is not installed, so it was not made Ogg/Opus'],
  })
  const mp3 = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(500)])
  t.match(await ingest('voice', mp3), { media: { kind: 'audio' } })
})
