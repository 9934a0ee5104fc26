/** A gigabyte up and down through the bot API, against a bare stream to disk and from it. */
import { randomBytes, randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { startChild } from './support/child.ts'
import { atLeast, below, type Finding } from './support/finding.ts'
import { seedKeys, seedUser } from './support/seed.ts'
import { seedLinked, seedPeople } from './support/seed-sandbox.ts'
import { type Service, startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { megabytes, now, percentile, perSecond } from './support/statistics.ts'

const SIZE = 2 ** 30
const TURNS = 5
/** The account is awake then; the threads and the memory of large files are still to come. */
const WARM_UP_BYTES = 2 ** 16
const MAX_GROWTH = 64 * 2 ** 20
const limits = { UPLOAD_LIMIT: `${2 ** 31}`, DOWNLOAD_LIMIT: `${2 ** 31}`, FFMPEG: 'false' }

export async function files(stage: Stage): Promise<Finding[]> {
  const userId = await seedUser(stage)
  const { credentialIds } = await seedLinked(stage, userId, 1)
  const [key = ''] = await seedKeys(stage, userId, credentialIds)
  const [chat = 0] = await seedPeople(stage, userId, 1)
  const service = await startService(stage, limits)
  const bare = startChild(join(import.meta.dirname, 'support/disk-process.ts'))
  const bareUrl = await bare.ask<string>('start', { dataDir: stage.dataDir })
  const botUrl = `http://127.0.0.1:${service.port}/bot${key}`
  await service.ask('online', 1)

  const send = async (bytes: number) => {
    const answer = await post(`${botUrl}/sendDocument?chat_id=${chat}`, multipart(bytes))
    return JSON.parse(answer).result.document.file_id as string
  }
  const get = async (file: string) => {
    const answer = await fetch(`${botUrl}/getFile?file_id=${file}`)
    const { result } = (await answer.json()) as { result: { file_path: string } }
    return drain(`http://127.0.0.1:${service.port}/file/bot${key}/${result.file_path}`)
  }
  await get(await send(WARM_UP_BYTES))

  const rates = { up: [] as number[], down: [] as number[] }
  const bareRates = { up: [] as number[], down: [] as number[] }
  const growth = { up: 0, down: 0 }
  for (let turn = 0; turn < TURNS; turn++) {
    let file = ''
    const up = await watched(service, async () => {
      file = await send(SIZE)
    })
    const down = await watched(service, () => get(file))
    rates.up.push(up.rate)
    rates.down.push(down.rate)
    growth.up = Math.max(growth.up, up.growth)
    growth.down = Math.max(growth.down, down.growth)
    bareRates.up.push(await rateOf(() => post(bareUrl, multipart(SIZE))))
    bareRates.down.push(await rateOf(() => drain(bareUrl)))
    stage.note(`turn ${turn + 1}: ${Math.round(up.rate)} up, ${Math.round(down.rate)} down`)
  }
  await service.stop()
  await bare.stop()

  const finding = (what: string, ours: readonly number[], plain: readonly number[]) => {
    const [mine, theirs] = [percentile(ours, 0.5), percentile(plain, 0.5)]
    const shown = { ours: perSecond(mine, 'MB'), bare: perSecond(theirs, 'MB') }
    return { what, ...shown, ...atLeast(mine, theirs, 0.6) }
  }
  const grown = (bytes: number) => ({
    ours: megabytes(bytes),
    ...below(bytes, MAX_GROWTH, '64 MB'),
  })
  return [
    finding('upload of 1 GB by sendDocument', rates.up, bareRates.up),
    { what: '  memory it takes', ...grown(growth.up) },
    finding('download of 1 GB by getFile', rates.down, bareRates.down),
    { what: '  memory it takes', ...grown(growth.down) },
  ]
}

/** The rate of this work, and how far the memory of the service went up meanwhile. */
async function watched(service: Service, work: () => Promise<unknown>) {
  const { rss } = await service.memory()
  let highest = rss
  const watch = setInterval(async () => {
    highest = Math.max(highest, await service.ask<number>('rss'))
  }, 50)
  const rate = await rateOf(work).finally(() => clearInterval(watch))
  return { rate, growth: highest - rss }
}

/** Megabytes a second. */
async function rateOf(work: () => Promise<unknown>): Promise<number> {
  const began = now()
  await work()
  return SIZE / 1_000 / (now() - began)
}

interface Body {
  readonly headers: Record<string, string>
  readonly stream: Readable
}

/** One file that nobody has sent before. */
export function multipart(bytes: number): Body {
  const boundary = randomUUID()
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="document"; filename="a.bin"\r\n\r\n`
  const piece = randomBytes(262_144)
  function* parts() {
    yield head
    for (let sent = 0; sent < bytes; sent += piece.length) yield piece
    yield `\r\n--${boundary}--\r\n`
  }
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
  return {
    headers,
    stream: Readable.from(parts(), { objectMode: false, highWaterMark: 1_048_576 }),
  }
}

export function post(url: string, { headers, stream }: Body): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', headers }, async (answer) => {
      const text = Buffer.concat(await answer.toArray()).toString()
      if (answer.statusCode === 200) resolve(text)
      else reject(new Error(`${url}: ${answer.statusCode} ${text}`))
    })
    asked.on('error', reject)
    stream.pipe(asked)
  })
}

/** Reads an answer to its end, which must be a gigabyte away or what was warmed up with. */
function drain(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    request(url, (answer) => {
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      answer.on('error', reject)
      answer.on('end', () => {
        if (answer.statusCode === 200 && bytes >= WARM_UP_BYTES) resolve()
        else reject(new Error(`${url}: ${answer.statusCode}, ${bytes} bytes`))
      })
    })
      .on('error', reject)
      .end()
  })
}
