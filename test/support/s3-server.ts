/** A storage service that speaks as much S3 as is needed, and believes no signature that it did not compute itself. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export const s3Secrets = { accessKeyId: 'AKCHAPAR', secretAccessKey: 'a-secret/with+signs' }
const REGION = 'eu-test-1'

interface Testing {
  teardown(work: () => void): void
}

export async function startS3(t: Testing) {
  const objects = new Map<string, Buffer>()
  let refusals = 0
  /** Another server on the way answers in its place. */
  let instead: { readonly status: number; readonly body: string } | undefined
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (instead) return response.writeHead(instead.status).end(instead.body)
    if (!isSigned(request)) {
      refusals++
      response.writeHead(403, { 'content-type': 'application/xml' })
      return response.end('<Error><Code>SignatureDoesNotMatch</Code></Error>')
    }
    const name = request.url?.split('?', 1)[0] ?? ''
    const object = objects.get(name)
    switch (request.method) {
      case 'PUT':
        objects.set(name, Buffer.concat(chunks))
        return response.writeHead(200, { etag: '"1"' }).end()
      case 'DELETE':
        objects.delete(name)
        return response.writeHead(204).end()
      case 'GET': {
        if (!object) {
          response.writeHead(404, { 'content-type': 'application/xml' })
          return response.end('<Error><Code>NoSuchKey</Code></Error>')
        }
        const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
        if (from === undefined) return response.end(object)
        return response.writeHead(206).end(object.subarray(Number(from), Number(to) + 1))
      }
    }
    return response.writeHead(405).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    objects,
    refusals: () => refusals,
    answer: (other: typeof instead) => {
      instead = other
    },
    options: {
      ...s3Secrets,
      endpoint: `http://127.0.0.1:${port}`,
      bucket: 'files',
      region: REGION,
    },
  }
}

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/** Signature version 4, from the documentation of the protocol. */
function isSigned({ method, url = '', headers }: IncomingMessage): boolean {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([\da-f]{64})$/
  const [, id, day = '', region = '', names = '', signature = ''] =
    form.exec(headers.authorization ?? '') ?? []
  const at = String(headers['x-amz-date'])
  const signed = names.split(';')
  const isFresh = Math.abs(Date.now() - timeOf(at)) < 900_000
  const hasAll = ['host', 'x-amz-date', 'x-amz-content-sha256'].every((each) =>
    signed.includes(each),
  )
  if (id !== s3Secrets.accessKeyId || region !== REGION || !isFresh || !hasAll) return false
  const [path, query = ''] = url.split('?')
  const canonical = [
    ...[method, path, query.split('&').sort().join('&')],
    ...signed.map((name) => `${name}:${String(headers[name]).trim()}`),
    ...['', names, headers['x-amz-content-sha256']],
  ].join('\n')
  const hash = createHash('sha256').update(canonical).digest('hex')
  const scope = `${day}/${region}/s3/aws4_request`
  const key = ['s3', 'aws4_request'].reduce(
    hmac,
    hmac(hmac(`AWS4${s3Secrets.secretAccessKey}`, day), region),
  )
  const expected = hmac(key, `AWS4-HMAC-SHA256\n${at}\n${scope}\n${hash}`)
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'))
}

const timeOf = (amzDate: string): number =>
  Date.parse(amzDate.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))
