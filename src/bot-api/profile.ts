/** getMe: the account in the reference's shape of a bot, whatever it is. */

import type { AccountIdentity, Json } from '../../actors/ports/platform.ts'
import { failed } from '../../machines/model/failure.ts'

/** `accountId` is the integer that stands for the account in this credential's chats. */
export async function profileOf(
  identity: AccountIdentity | undefined,
  accountId: (native: string) => Promise<number>,
): Promise<Json> {
  if (!identity) throw failed('unauthorized')
  const { native, firstName, lastName, username } = identity
  const id = await accountId(native)
  return {
    id,
    is_bot: true,
    first_name: firstName,
    ...(lastName !== undefined && { last_name: lastName }),
    username: username ?? `user${id}`,
    can_join_groups: true,
    can_read_all_group_messages: true,
    supports_inline_queries: false,
    supports_guest_queries: false,
    can_connect_to_business: false,
    has_main_web_app: false,
    has_topics_enabled: false,
    allows_users_to_create_topics: false,
    can_manage_bots: false,
    supports_join_request_queries: false,
  }
}
