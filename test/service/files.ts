/** Bot calls with files, as libraries make them. */
import sharp from 'sharp'
import type { Answer } from '../support/client.ts'
import { checkAnswer } from '../support/reference-check.ts'

export interface Part {
  readonly bytes: Buffer
  readonly name?: string
}

/** Sends the parameters and the files as one form. */
export async function callWithFiles(
  url: string,
  key: string,
  method: string,
  parameters: Readonly<Record<string, unknown>>,
  files: Readonly<Record<string, Part>>,
): Promise<Answer> {
  const body = new FormData()
  for (const [name, value] of Object.entries(parameters)) {
    body.append(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  for (const [name, { bytes, name: fileName }] of Object.entries(files)) {
    body.append(name, new Blob([new Uint8Array(bytes)]), fileName ?? 'file.bin')
  }
  const path = `/bot${key}/${method}`
  const answer = await fetch(`${url}${path}`, { method: 'POST', body })
  const answered = JSON.parse(await answer.text())
  checkAnswer(path, answered)
  return { status: answer.status, headers: answer.headers, body: answered }
}

export const picture = (width = 320, height = 240, background = '#3377aa'): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background } })
    .jpeg()
    .toBuffer()

/** Bytes that begin as such a file does; nothing looks further where there is no ffmpeg. */
export const soundOf = {
  ogg: Buffer.concat([
    Buffer.from('OggS\0\x02'),
    Buffer.alloc(22),
    Buffer.from('OpusHead'),
    Buffer.alloc(200),
  ]),
  mp3: Buffer.concat([
    Buffer.from('ID3\x04\0\0\0\0\0\0'),
    Buffer.from([0xff, 0xfb, 0x90, 0x64]),
    Buffer.alloc(400),
  ]),
}
export const film = Buffer.concat([
  Buffer.from([0, 0, 0, 0x18]),
  Buffer.from('ftypisom\0\0\x02\0isomiso2'),
  Buffer.alloc(400),
])
