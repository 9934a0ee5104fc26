/** What personal access tokens may do, and from where tokens and API keys may be used. */
import { Migration } from '@mikro-orm/migrations'

export class AccessLimits extends Migration {
  override up(): void {
    // What every token could do until now; nodes of the version before go on making such tokens.
    this.addSql(`alter table personal_token
      add column scopes text[] not null default '{read,link,keys,send}',
      add column allowed_ips text[] not null default '{}'`)
    this.addSql(`alter table api_key add column allowed_ips text[] not null default '{}'`)
  }
}
