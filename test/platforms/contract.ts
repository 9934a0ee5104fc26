/** What every platform must do, whatever its network; each platform's tests run it over a harness of their own. */
import type { Test } from 'tap'
import { contentContract } from './contract/content.ts'
import { eventContract } from './contract/events.ts'
import { fileContract } from './contract/files.ts'
import { groupContract, profileContract } from './contract/group-operations.ts'
import type { ContractHarness } from './contract/harness.ts'
import { keyboardContract } from './contract/keyboards.ts'
import { linkContract } from './contract/link.ts'
import { operationContract } from './contract/operations.ts'
import { opinionContract } from './contract/opinions.ts'
import { refusalContract } from './contract/refusals.ts'
import { sessionContract } from './contract/session.ts'
import { storyContract } from './contract/stories.ts'

/** `start` brings the network up; `t.teardown` takes it down again. */
export function platformContract(
  t: Test,
  name: string,
  start: (t: Test) => Promise<ContractHarness>,
): void {
  t.test(name, async (t) => {
    const harness = await start(t)
    await t.test('links', (t) => linkContract(t, harness))
    await t.test('keeps a session', (t) => sessionContract(t, harness))
    await t.test('performs operations', (t) => operationContract(t, harness))
    await t.test('manages groups', (t) => groupContract(t, harness))
    await t.test('keeps a profile', (t) => profileContract(t, harness))
    await t.test('shows stories', (t) => storyContract(t, harness))
    await t.test('carries content', (t) => contentContract(t, harness))
    await t.test('shows keyboards', (t) => keyboardContract(t, harness))
    await t.test('opens files', (t) => fileContract(t, harness))
    await t.test('tells opinions', (t) => opinionContract(t, harness))
    await t.test('refuses what cannot be done', (t) => refusalContract(t, harness))
    await t.test('reports events', (t) => eventContract(t, harness))
  })
}
