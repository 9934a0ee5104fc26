/** The bare counterpart of files: a server that streams a body to the disk, and a file from it. */
import { createReadStream, createWriteStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { answerParent, processor } from './child.ts'

let close = () => {}

answerParent({
  async start({ dataDir }: { dataDir: string }) {
    const server = createServer(async (request, response) => {
      const path = join(dataDir, `bare-file${request.url?.replaceAll('/', '-')}`)
      if (request.method === 'POST') {
        await pipeline(request, createWriteStream(path, { highWaterMark: 262_144 }))
        await using file = await open(path)
        await file.sync()
        response.end('{}')
      } else {
        response.setHeader('content-length', (await stat(path)).size)
        await pipeline(createReadStream(path, { highWaterMark: 262_144 }), response)
      }
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    close = () => server.close()
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  },
  processor,
  stop: () => close(),
})
