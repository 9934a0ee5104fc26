/** The live sessions of a user, as the user sees them. */
import { UserSession } from '../database/entities/accounts.ts'
import { type Clock, secondsAfter } from './clock.ts'
import { beforeId, type Orm, type Page, type PageOf, toPage } from './records.ts'
import { IDLE_SECONDS } from './sessions.ts'

export async function listSignIns(
  orm: Orm,
  clock: Clock,
  userId: number,
  page: Page,
): Promise<PageOf<UserSession>> {
  const now = clock()
  const live = {
    endedAt: null,
    expiresAt: { $gt: now },
    lastUsedAt: { $gt: secondsAfter(now, -IDLE_SECONDS) },
  }
  const found = await orm.em
    .fork()
    .find(
      UserSession,
      { userId, ...live, ...beforeId(page) },
      { orderBy: { id: 'desc' }, limit: page.limit + 1 },
    )
  return toPage(found, page.limit)
}
