/** What a ban of the network takes away: each of them alone, and nothing else. */
import t from 'tap'
import { PERMISSIONS, RIGHTS } from '../../machines/model/rights.ts'
import {
  bans,
  grants,
  permissionsOf,
  rightsOf,
} from '../../src/platforms/telegram/reading/memberships.ts'

const banned = (...names: string[]) => ({
  _: 'chatBannedRights' as const,
  untilDate: 0,
  ...Object.fromEntries(names.map((name) => [name, true])),
})

t.test('each ban alone takes its permission', async (t) => {
  t.same(permissionsOf(banned()), PERMISSIONS)
  for (const permission of PERMISSIONS) {
    const others = PERMISSIONS.filter((other) => other !== permission)
    for (const ban of bans[permission]) t.same(permissionsOf(banned(ban)), others, ban)
  }
  t.same(permissionsOf(banned(...PERMISSIONS.flatMap((permission) => bans[permission]))), [])
})

t.test('each grant gives its right', async (t) => {
  for (const right of RIGHTS) {
    t.same(rightsOf({ _: 'chatAdminRights', [grants[right]]: true }), [right])
  }
  t.same(rightsOf({ _: 'chatAdminRights' }), [])
})
