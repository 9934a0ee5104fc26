/** Twenty files of 20 MB at once by sendDocument, against a bare server that streams twenty bodies to the disk. */
import { join } from 'node:path'
import { multipart, post } from './files.ts'
import { type Child, startChild } from './support/child.ts'
import { atLeast, type Finding } from './support/finding.ts'
import { seedKeys, seedUser } from './support/seed.ts'
import { seedLinked, seedPeople } from './support/seed-sandbox.ts'
import { startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { now, percentile, perSecond, seconds } from './support/statistics.ts'

const FILES = 20
const SIZE = 20 * 2 ** 20
const TURNS = 11
const MEGABYTES = (FILES * SIZE) / 2 ** 20
const AT_LEAST = 0.6
const limits = { FILE_QUOTA: `${2 ** 40}`, FFMPEG: 'false' }

interface Turn {
  /** Milliseconds until the last file was answered for. */
  readonly took: number
  /** Milliseconds of the receiver's processor. */
  readonly processor: number
}

export async function uploads(stage: Stage): Promise<Finding[]> {
  const userId = await seedUser(stage)
  const { credentialIds } = await seedLinked(stage, userId, 1)
  const [key = ''] = await seedKeys(stage, userId, credentialIds)
  const [chat = 0] = await seedPeople(stage, userId, 1)
  const service = await startService(stage, limits)
  const bare = startChild(join(import.meta.dirname, 'support/disk-process.ts'))
  const bareUrl = await bare.ask<string>('start', { dataDir: stage.dataDir })
  await service.ask('online', 1)
  const document = `http://127.0.0.1:${service.port}/bot${key}/sendDocument?chat_id=${chat}`
  const [ours, plain]: [Turn[], Turn[]] = [[], []]
  for (let turn = 0; turn <= TURNS; turn++) {
    const mine = await together(service, () => document)
    const theirs = await together(bare, (place) => `${bareUrl}/${turn}-${place}`)
    // Threads begin and code is compiled in the first one.
    if (turn === 0) continue
    ours.push(mine)
    plain.push(theirs)
    stage.note(`turn ${turn}: ${seconds(mine.took)}, bare ${seconds(theirs.took)}`)
  }
  await service.stop()
  await bare.stop()
  const rate = (turns: readonly Turn[]) => (1000 * MEGABYTES) / half(turns.map(({ took }) => took))
  const processor = (turns: readonly Turn[]) => half(turns.map(({ processor }) => processor))
  const relations = ours.map(({ took }, place) => (plain[place]?.took ?? 0) / took)
  return [
    {
      what: `${FILES} uploads of ${SIZE / 2 ** 20} MB at once by sendDocument`,
      ours: perSecond(rate(ours), 'MB'),
      bare: perSecond(rate(plain), 'MB'),
      ...atLeast(half(relations), 1, AT_LEAST),
    },
    {
      what: '  processor time of the receiver for all of them',
      ours: seconds(processor(ours)),
      bare: seconds(processor(plain)),
      ratio: processor(ours) / processor(plain),
    },
  ]
}

const half = (values: readonly number[]) => percentile(values, 0.5)

async function together(receiver: Child, urlOf: (place: number) => string): Promise<Turn> {
  const before = await receiver.ask<number>('processor')
  const began = now()
  const files = Array.from({ length: FILES }, (_, place) => post(urlOf(place), multipart(SIZE)))
  await Promise.all(files)
  const took = now() - began
  return { took, processor: (await receiver.ask<number>('processor')) - before }
}
