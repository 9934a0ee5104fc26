/** A large file may take longer than a request: for as long as it moves, and no longer. */
import t from 'tap'
import { callWithFiles } from '../service/files.ts'
import { linkOver, serviceOver } from './telegram/over-http.ts'
import { Stage } from './telegram/stage.ts'

const LIMIT_MS = 5_000
const PARTS = 16
const BYTES_PER_PART = 131_072

t.test('an upload is waited for while it moves', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const service = await serviceOver(t, stage, { PLATFORM_TIMEOUT_MS: `${LIMIT_MS}` })
  const client = await service.client()
  const [person, friend] = [network.person(), network.person()]
  const { key } = await linkOver(client, person)
  const send = async () => {
    const parameters = { chat_id: friend.id }
    const document = { bytes: Buffer.alloc(PARTS * BYTES_PER_PART, 'x') }
    const began = performance.now()
    const files = { document }
    const { body } = await callWithFiles(service.url, key, 'sendDocument', parameters, files)
    return { body, took: performance.now() - began }
  }

  await t.test('however long it takes', async (t) => {
    network.files.millisecondsPerPart = (1.8 * LIMIT_MS) / PARTS
    const { body, took } = await send()
    t.match(body, { ok: true, result: { document: { file_size: PARTS * BYTES_PER_PART } } })
    t.ok(took > LIMIT_MS, `it took ${took} ms`)
    // The library opens more than one only once they are of use.
    t.ok(network.connectionsOf(person).length > 2, 'it moves over several connections')
  })

  await t.test('and not when it has stopped', async (t) => {
    network.files.isDeaf = true
    const { body } = await send()
    t.match(body, {
      ok: false,
      error_code: 504,
      description:
        /^Gateway Timeout: the platform did not answer in time; the message may have been sent$/,
    })
  })
})
