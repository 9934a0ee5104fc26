/** GET /sandbox/files/{file}: the bytes of a file that was sent over the sandbox. */
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { Type } from 'typebox'
import { Failed } from '../envelope.ts'
import { described, goneSignal, type SandboxRoutes } from './route.ts'

const Bytes = Type.Unsafe<Readable>({ type: 'string', format: 'binary' })

export const fileRoutes: SandboxRoutes = async (app, { network }) => {
  app.get(
    '/files/:file',
    {
      schema: {
        ...described('The bytes of a file, by the name that messages show'),
        params: Type.Object({ file: Type.String({ maxLength: 100 }) }),
        response: {
          200: { content: { 'application/octet-stream': { schema: Bytes } } },
          default: Failed,
        },
      },
    },
    async (request, reply) => {
      const { stream, size } = await network(request).files.open(
        request.params.file,
        {},
        goneSignal(reply),
      )
      reply.headers({
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment',
        'content-security-policy': "default-src 'none'; sandbox",
        ...(size !== undefined && { 'content-length': size }),
      })
      return reply.send(Readable.fromWeb(stream as ReadableStream<Uint8Array>))
    },
  )
}
