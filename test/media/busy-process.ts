/** A process with more pictures to decode than it has threads: says how many became ready while a file was read. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createPool } from '../../src/media/pool.ts'
import { drawn } from './service-rig.ts'

const USERS = 12
const [folder = ''] = process.argv.slice(2)
const pool = createPool({ threads: USERS })
let ready = 0
const source = join(folder, 'large')
await drawn(3_000, 3_000).png({ compressionLevel: 1 }).toFile(source)
const look = async (userId: number) => {
  await pool.of(userId).run('look', { path: source })
}
const decode = async (userId: number) => {
  const wanted = [{ target: join(folder, `${userId}`), box: 2_000, format: 'webp' as const }]
  await pool.of(userId).run('picture', { source, wanted })
  ready++
}
const users = Array.from({ length: USERS }, (_, userId) => userId)
// Each worker has loaded what it needs before the pictures come.
await Promise.all(users.map(look))
for (const userId of users) void decode(userId)
await new Promise((resolve) => setTimeout(resolve, 200))
const before = ready
await readFile(import.meta.filename)
process.stdout.write(`${ready - before}`, () => process.kill(process.pid, 'SIGKILL'))
