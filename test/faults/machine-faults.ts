/** What happens to machines: a process stands still, disks fill up, files run out, clocks jump. */
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { open, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { again, type Fault } from './fault.ts'

const run = promisify(execFile)

const frozenService: Fault = {
  name: 'service frozen (SIGSTOP)',
  async begin({ service }) {
    process.kill(service.pid, 'SIGSTOP')
    return async () => {
      process.kill(service.pid, 'SIGCONT')
    }
  },
}

const killedService: Fault = {
  name: 'service killed',
  async begin({ service }) {
    await service.kill()
    return async () => undefined
  },
}

function hasProgram(name: string, ...args: string[]): boolean {
  try {
    execFileSync(name, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Few more than it has open; then far more connections than that. */
const FILES = 64
const CONNECTIONS = 300

const noFiles: Fault = {
  name: `${FILES} files at most, ${CONNECTIONS} connections`,
  missing: hasProgram('prlimit', '--version') ? undefined : 'prlimit is not installed',
  async begin({ service, port }) {
    const limit = (files: string) =>
      run('prlimit', ['--pid', `${service.pid}`, `--nofile=${files}`])
    await limit(`${FILES}:4096`)
    const sockets: Socket[] = []
    for (let count = 0; count < CONNECTIONS; count++) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined)
      sockets.push(socket)
    }
    return async () => {
      for (const socket of sockets) socket.destroy()
      await limit('4096:4096')
    }
  },
}

/** `disk`: where the database is, if it is a disk of its own. */
const fullDisk = (disk: string | undefined): Fault => ({
  name: 'disk full',
  missing: disk === undefined ? 'a disk of its own cannot be mounted here' : undefined,
  async begin({ postgres }) {
    const filler = join(disk ?? '', 'filler')
    const file = await open(filler, 'w')
    const block = Buffer.alloc(1024 * 1024)
    // To the last byte, and whatever becomes free again while it lasts.
    const stop = again(50, async () => {
      for (let size = block.length; size >= 4_096; size /= 2) {
        const part = block.subarray(0, size)
        await file.appendFile(part).then(
          () => {
            size = block.length * 2
          },
          () => undefined,
        )
      }
    })
    return async () => {
      await stop()
      await file.close()
      await rm(filler)
      await postgres.revive()
    }
  },
})

export const library = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'

/** What makes the clock of a process a file's; its timers go on as they are. */
export const clockOf = (file: string): NodeJS.ProcessEnv =>
  existsSync(library)
    ? {
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: file,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      }
    : {}

const jump = (clock: string, by: string): Fault => ({
  name: `clock jumps by ${by}, and back`,
  missing: existsSync(library) ? undefined : 'libfaketime is not installed',
  async begin() {
    await writeFile(clock, by)
    return () => writeFile(clock, '+0')
  },
})

export const machineFaults = (disk: string | undefined, clock: string): readonly Fault[] => [
  killedService,
  frozenService,
  noFiles,
  fullDisk(disk),
  ...['+1h', '-1h', '+1d'].map((by) => jump(clock, by)),
]
