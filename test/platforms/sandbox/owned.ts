/** The sandbox with one user's network at hand: links find the people of that user. */
import type { Platform } from '../../../actors/platform.ts'
import {
  createSandbox,
  type Network,
  type Sandbox,
  type SandboxOptions,
} from '../../../src/platforms/sandbox/sandbox.ts'

export type OwnedSandbox = Sandbox & Network

export function ownedSandbox(options: SandboxOptions, owner: number): OwnedSandbox {
  const sandbox = createSandbox(options)
  const startLink: Platform['startLink'] = (method, fields, signal) =>
    sandbox.platform.startLink(method, fields, signal, owner)
  return {
    ...sandbox,
    ...sandbox.network(owner),
    platform: { ...sandbox.platform, startLink },
  }
}
