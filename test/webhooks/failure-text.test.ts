/** Why an attempt failed, word for word, however deep the cause lies. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import t from 'tap'
import { AddressRefused } from '../../src/net/guard.ts'
import { failureText } from '../../src/webhooks/exchange.ts'

const coded = (code: unknown, message = 'unspecified', cause?: unknown) =>
  Object.assign(new Error(message, { cause }), { code })

t.test('each code in its words', async (t) => {
  const texts = {
    ECONNREFUSED: 'Connection refused',
    ETIMEDOUT: 'Connection timed out',
    UND_ERR_CONNECT_TIMEOUT: 'Connection timed out',
    EHOSTUNREACH: 'Connection timed out',
    ENETUNREACH: 'Connection timed out',
    ENOTFOUND: 'Failed to resolve host: Name or service not known',
    EAI_AGAIN: 'Failed to resolve host: Name or service not known',
    ENODATA: 'Failed to resolve host: Name or service not known',
    ESERVFAIL: 'Failed to resolve host: Name or service not known',
    ETIMEOUT: 'Failed to resolve host: Name or service not known',
    UND_ERR_HEADERS_OVERFLOW: "The header of the webhook's answer is too long",
    CERT_HAS_EXPIRED: 'SSL error {unspecified}',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'SSL error {unspecified}',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'SSL error {unspecified}',
    EPROTO: 'SSL error {unspecified}',
    ERR_SSL_WRONG_VERSION_NUMBER: 'SSL error {unspecified}',
    ECONNRESET: 'Connection reset by peer',
    EPIPE: 'Connection reset by peer',
    UND_ERR_SOCKET: 'Connection reset by peer',
    UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "The webhook's answer is not HTTP",
    EMFILE: "Can't connect to the webhook",
  }
  for (const [code, text] of Object.entries(texts)) {
    t.equal(failureText(coded(code)), text, code)
    t.equal(failureText(new TypeError('fetch failed', { cause: coded(code) })), text, code)
  }
})

t.test('the first cause that says something counts, a refused address before all', async (t) => {
  const refused = coded('ECONNREFUSED')
  t.equal(failureText(coded('EMFILE', '', refused)), 'Connection refused')
  t.equal(failureText(coded(7, '', refused)), 'Connection refused', 'a code is a text')
  t.equal(failureText(coded('ETIMEDOUT', '', refused)), 'Connection timed out')
  t.equal(
    failureText(new AggregateError([coded('EMFILE'), coded('ETIMEDOUT'), refused])),
    'Connection timed out',
    'of several addresses',
  )
  const mixed = new AggregateError([refused, new AddressRefused()])
  t.equal(failureText(mixed), 'IP address is reserved')
  t.equal(failureText(coded('UND_ERR_SOCKET', '', new AddressRefused())), 'IP address is reserved')
  for (const other of ['ECONNREFUSED', undefined, null, {}, new Error('x')]) {
    t.equal(failureText(other), "Can't connect to the webhook")
  }
})

t.test('a chain of causes that never ends is not followed for ever', async (t) => {
  const [one, other] = [new Error('one'), new Error('other')]
  one.cause = other
  other.cause = one
  t.equal(failureText(one), "Can't connect to the webhook")
})

t.test('what went wrong with TLS is told without what is of this machine', async (t) => {
  const hinted =
    'self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca'
  const selfSigned = Object.assign(new Error(hinted), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  t.equal(failureText(selfSigned), 'SSL error {self-signed certificate}')

  // It speaks plain HTTP.
  const endpoint = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
  t.teardown(() => endpoint.close())
  await once(endpoint.listen(0, '127.0.0.1'), 'listening')
  const { port } = endpoint.address() as AddressInfo
  const failure = await fetch(`https://127.0.0.1:${port}`).catch((error) => error)
  t.equal(failureText(failure), 'SSL error {wrong version number}')
})
