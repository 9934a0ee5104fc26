/** What setWebhook says of addresses that it does not take: nothing of the network that the service stands in. */
import t from 'tap'
import { RequestFailed } from '../../machines/model/failure.ts'
import { checkCertificate, checkReachable, parseWebhookUrl } from '../../src/webhooks/address.ts'
import { opensslMissing, selfSigned } from '../support/certificate.ts'

const told = async (asked: () => unknown) => {
  try {
    await asked()
  } catch (cause) {
    if (cause instanceof RequestFailed) return cause.failure.description
    throw cause
  }
  return undefined
}

t.test('an internal address is not told to who named only its host', async (t) => {
  const resolve = async () => [{ address: '172.20.1.7', family: 4 }]
  const reach = { allowPrivate: false, resolve }
  const host = new URL('https://internal.example/hook')
  t.equal(
    await told(() => checkReachable(host, undefined, reach)),
    'bad webhook: IP address is reserved',
  )
  const given = new URL('https://10.0.0.1/hook')
  const description = 'bad webhook: IP address 10.0.0.1 is reserved'
  t.equal(await told(() => checkReachable(given, undefined, reach)), description)
})

t.test('user info is refused in production', async (t) => {
  const url = 'https://user:secret@example.org/hook'
  const description = 'bad webhook: the URL must not carry user info'
  t.equal(await told(() => parseWebhookUrl(url, false)), description)
  t.equal(await told(() => parseWebhookUrl(url, true)), undefined)
})

t.test('a certificate that is none is refused', async (t) => {
  const description = "bad webhook: can't parse the certificate"
  t.equal(await told(() => checkCertificate(Buffer.from('none'))), description)
  const large = Buffer.alloc(65_537)
  t.equal(
    await told(() => checkCertificate(large)),
    `certificate size is too big (${large.length} bytes)`,
  )
})

t.test(
  'a certificate comes with its chain, and no more',
  { skip: opensslMissing ?? false },
  async (t) => {
    const { cert } = selfSigned('bot.test')
    t.equal(checkCertificate(Buffer.from(cert.repeat(10))), cert.repeat(10))
    t.equal(
      await told(() => checkCertificate(Buffer.from(cert.repeat(11)))),
      'bad webhook: the certificate must have a chain of at most 10',
    )
  },
)
