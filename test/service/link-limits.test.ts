/** Starting to link and asking for a new code count against the same limits, and say when to come back. */
import t from 'tap'
import type { LinkAttempt, Platform } from '../../actors/ports/platform.ts'
import { capabilities } from '../../src/platforms/sandbox/platform.ts'
import { startService } from '../support/service.ts'

/** A network whose codes never come, however often they are sent. */
function distantNetwork() {
  let sent = 0
  const step = { kind: 'code', sentVia: 'pigeon', resendAfterSeconds: 0, stored: {} } as const
  const begin = async (): Promise<LinkAttempt> => {
    sent++
    return {
      step,
      answer: async ({ kind }) => {
        if (kind === 'resend') sent++
        return step
      },
      changed: () => new Promise(() => undefined),
      close: async () => undefined,
    }
  }
  const platform: Platform = {
    id: 'distant',
    name: 'Distant',
    ids: 'integer',
    sessions: 'shared',
    sends: 'blind',
    linkMethods: [{ method: 'phone', fields: [{ name: 'phone', label: 'Phone', required: true }] }],
    capabilities,
    startLink: begin,
    resumeLink: begin,
    open: () => {
      throw new Error('nobody is ever linked')
    },
  }
  return { platform, sent: () => sent }
}

const limited = {
  status: 429,
  body: {
    ok: false,
    error_code: 429,
    description: /^Too Many Requests: retry after \d+$/,
    parameters: { retry_after: /^3[56]\d\d$/ },
  },
}

async function rig(t: Parameters<typeof startService>[0], env: Record<string, string>) {
  const { platform, sent } = distantNetwork()
  const service = await startService(t, { platforms: [platform], env })
  const client = await service.client()
  const start = (phone: string, who = client) =>
    who.ask('POST', '/platforms/distant/link/start', { phone })
  const resend = (session: string) =>
    client.ask('POST', `/platforms/distant/link/${session}/resend`)
  return { service, client, sent, start, resend }
}

t.test('codes of one phone, whoever asks and by whichever call', async (t) => {
  const { service, client, sent, start, resend } = await rig(t, { LINK_STARTS_PER_TARGET: '3' })
  const first = await start('+49 151 12345678')
  const session = first.body.result.session_id
  t.match(await resend(session), { status: 200, body: { result: { state: 'code_sent' } } })
  t.equal((await resend(session)).status, 200)
  t.equal(sent(), 3)

  const refusals = [
    await resend(session),
    await start('+4915112345678'),
    await start('+4915112345678', await service.client()),
  ]
  const page = await client.result('POST', `/platforms/distant/link/${session}/page`)
  refusals.push(await client.ask('POST', `/link-pages/${page.token}/resend`))
  for (const refusal of refusals) {
    t.match(refusal, limited)
    t.equal(refusal.headers.get('retry-after'), `${refusal.body.parameters.retry_after}`)
  }
  t.equal(sent(), 3, 'nothing more was sent')
  t.match(await client.ask('GET', `/platforms/distant/link/${session}`), {
    body: { result: { state: 'code_sent', attempts_left: 5 } },
  })
  t.equal((await start('+4915112345679')).status, 200, 'another phone')

  await service.restart()
  t.equal((await resend(session)).status, 429, 'a restart forgets nothing')
})

t.test('codes of one user', async (t) => {
  const { sent, start, resend } = await rig(t, { LINK_STARTS_PER_USER: '4' })
  const { session_id } = (await start('+4915112345678')).body.result
  const answers = await Promise.all(Array.from({ length: 3 }, () => resend(session_id)))
  // Of several at once those that come while one is answered are turned away and do not count.
  const good = answers.filter(({ status }) => status === 200).length
  for (let n = good; n < 3; n++) t.equal((await resend(session_id)).status, 200)
  t.equal(sent(), 4)
  for (const answer of [await resend(session_id), await start('+4915112345679')]) {
    t.match(answer, limited)
  }
})
