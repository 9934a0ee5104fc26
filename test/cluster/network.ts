/** A network namespace for each node, joined by a bridge: what a machine of its own is to the others. Needs root. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Testing } from './stage.ts'

const run = promisify(execFile)
const ip = (words: string) => run('ip', words.split(' '))

/** One machine of the network. */
export interface Machine {
  readonly address: string
  /** What runs a process there. */
  readonly within: readonly string[]
  /** Whether it is connected to the others. */
  connect(isConnected: boolean): Promise<void>
}

export interface Network {
  /** Of this process, which all machines reach. */
  readonly address: string
  readonly machines: readonly Machine[]
}

/** Names of interfaces are short, and are those of the whole machine. */
const tag = `c${process.pid}`
const subnet = `10.213.${process.pid % 256}`

/** Why there can be no namespaces here; undefined where there can. */
export async function networkMissing(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'network namespaces are for root'
  try {
    await ip(`netns add ${tag}-try`)
    await ip(`netns delete ${tag}-try`)
    return undefined
  } catch (cause) {
    return `ip netns: ${(cause as Error).message.trim().split('\n').at(-1)}`
  }
}

export async function openNetwork(t: Testing, count: number): Promise<Network> {
  const bridge = `${tag}-br`
  await ip(`link add ${bridge} type bridge`)
  t.teardown(async () => void (await ip(`link delete ${bridge}`)))
  await ip(`address add ${subnet}.1/24 dev ${bridge}`)
  await ip(`link set ${bridge} up`)
  const machines: Machine[] = []
  for (let n = 1; n <= count; n++) machines.push(await openMachine(t, bridge, n))
  return { address: `${subnet}.1`, machines }
}

async function openMachine(t: Testing, bridge: string, n: number): Promise<Machine> {
  const [space, near, far] = [`${tag}-${n}`, `${tag}-n${n}`, `${tag}-f${n}`]
  const address = `${subnet}.${n + 1}`
  await ip(`netns add ${space}`)
  // The interfaces end with it.
  t.teardown(async () => void (await ip(`netns delete ${space}`)))
  await ip(`link add ${near} type veth peer name ${far}`)
  await ip(`link set ${near} master ${bridge} up`)
  await ip(`link set ${far} netns ${space}`)
  const inside = (words: string) => ip(`netns exec ${space} ip ${words}`)
  await inside(`address add ${address}/24 dev ${far}`)
  await inside(`link set ${far} up`)
  await inside('link set lo up')
  return {
    address,
    within: ['ip', 'netns', 'exec', space],
    connect: async (isConnected) => {
      await ip(`link set ${near} ${isConnected ? 'up' : 'down'}`)
    },
  }
}
