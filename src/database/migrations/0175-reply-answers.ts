/** Finds the answers to calls of webhooks, which go sooner than those of callers. */
import { Migration } from '@mikro-orm/migrations'

export class ReplyAnswers extends Migration {
  override up(): void {
    this.addSql(
      `create index idempotent_call_replies on idempotent_call (begun_at) where key like ' %'`,
    )
  }
}
