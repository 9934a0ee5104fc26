/** An account of Telegram that is linked by a QR code, which a client made with Telethon scans. */
import t from 'tap'
import { until } from '../support/client.ts'
import { Telethon, type Told } from '../support/telethon.ts'
import { serviceOver } from './telegram/over-http.ts'
import { Stage } from './telegram/stage.ts'

// Its packages may have to be fetched first.
t.setTimeout(600_000)
const telethon = await Telethon.start()
const skip = typeof telethon === 'string' ? telethon : false
if (typeof telethon !== 'string') t.teardown(() => telethon.stop())

t.test('the account is linked by a code that a foreign client scans', { skip }, async (t) => {
  if (typeof telethon === 'string') return
  const stage = await Stage.start(t)
  const { network } = stage
  const service = await serviceOver(t, stage)
  const client = await service.client()
  for (const [centre, password] of [[2], [4], [4, 'correct horse']] as const) {
    const person = network.person({ centre, ...(password && { password }) })
    const phone = await telethon.client(network)
    await phone.signIn(person, password)
    const begun = await client.result('POST', '/platforms/telegram/link/start', { method: 'qr' })
    const token = new URL(begun.show.value).searchParams.get('token') ?? ''
    const bytes = Buffer.from(token, 'base64url').toString('base64')
    const device = await phone.raw('auth.AcceptLoginToken', { token: { bytes } })
    t.match(device, { device_model: 'Chapar', system_version: 'Node.js' })
    const { session_id } = begun
    const flow = () => client.result('GET', `/platforms/telegram/link/${session_id}`)
    if (password) {
      await until(async () => (await flow()).state === 'password_needed')
      await client.result('POST', '/platforms/telegram/link/verify', { session_id, password })
    }
    const { credential } = await until(async () => {
      const now = await flow()
      return now.state === 'linked' && now
    })
    await client.state(credential.credential_id, 'active')
    const { authorizations } = await phone.raw('account.GetAuthorizations')
    t.same(authorizations.map(({ device_model }: Told) => device_model).sort(), [
      'Chapar',
      'Foreigner',
    ])
  }
})
