/** The sandbox with one user's network at hand: links find the people of that user. */
import type { Platform } from '../../../actors/ports/platform.ts'
import { sandboxPlatform } from '../../../src/platforms/sandbox/platform.ts'
import {
  createSandbox,
  type Network,
  type Sandbox,
  type SandboxOptions,
} from '../../../src/sandbox/sandbox.ts'

export type OwnedSandbox = Sandbox & Network & { readonly platform: Platform }

const ample = { people: 1_000_000, chats: 1_000_000, messages: 1_000_000 }

export function ownedSandbox(
  options: Omit<SandboxOptions, 'limits'> & Partial<SandboxOptions>,
  owner: number,
): OwnedSandbox {
  const sandbox = createSandbox({ limits: ample, ...options })
  const platform = sandboxPlatform(sandbox)
  const startLink: Platform['startLink'] = (method, fields, signal) =>
    platform.startLink(method, fields, signal, owner)
  return {
    ...sandbox,
    ...sandbox.network(owner),
    platform: { ...platform, startLink },
  }
}
