/** Hides what may be a key in the paths of webhooks that were stored in the clear; `shownUrl` has the same rule. */
import { Migration } from '@mikro-orm/migrations'

const word = '[A-Z]?[a-z]{2,15}|[A-Z]{2,6}|[A-Z][a-z]{2,14}([A-Z][a-z]{2,14})+|v?[0-9]{1,4}'
const words = `^(${word})([-_.](${word}))*$`

/** An address begins with three parts that are no path: `https:`, nothing, and the host. */
const shown = (column: string) => `(
  select string_agg(case when n > 3 and length(part) >= 16 and part !~ '${words}'
                      then '[hidden]' else part end, '/' order by n)
    from regexp_split_to_table(${column}, '/') with ordinality as parts (part, n))`

export class ShownUrls extends Migration {
  override async up(): Promise<void> {
    this.addSql(`update webhook set shown_url = ${shown('shown_url')}
      where shown_url ~ '/[^/]{16,}'`)
    this.addSql(`update webhook_delivery set url = ${shown('url')}
      where url ~ '//[^/]+/(.*/)?[^/]{16,}' and url is distinct from ${shown('url')}`)
    // Their evidence quotes the address in a sentence; a diagnosis lives for seven days at most.
    this.addSql(`delete from diagnosis where findings::text ~ 'https?://'`)
  }

  override async down(): Promise<void> {
    // Only the sealed column still has the hidden part.
  }
}
