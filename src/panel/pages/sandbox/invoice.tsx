/** An invoice in a message: what is sold, for how much, and the way to pay it. */
import { useState } from 'react'
import type { Invoice, Message } from '../../api/sandbox-types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { PayDialog } from './pay.tsx'

interface InvoiceCardProps {
  readonly message: Message
  readonly invoice: Invoice
}

const DAY_SECONDS = 86_400

/** Where the bot put no button for paying below its invoice, the card has one. */
export function InvoiceCard({ message, invoice }: InvoiceCardProps) {
  const t = useT()
  const { money } = useFormats()
  const [isPaying, setPaying] = useState(false)
  const { title, description, prices, currency, total_amount, subscription_period } = invoice
  const hasButton = message.inline_keyboard?.flat().some(({ pay }) => pay)
  return (
    <div className="stack tight poll">
      <strong dir="auto">{title}</strong>
      <span dir="auto">{description}</span>
      <table className="prices small">
        <tbody>
          {prices.map(({ label, amount }) => (
            <tr key={`${label} ${amount}`}>
              <th scope="row">
                <bdi>{label}</bdi>
              </th>
              <td className="number">{money(amount, currency)}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">{t('pay.total')}</th>
            <td className="number label">{money(total_amount, currency)}</td>
          </tr>
        </tbody>
      </table>
      {subscription_period !== undefined && (
        <span className="quiet small">
          {t('pay.perPeriod', { days: Math.round(subscription_period / DAY_SECONDS) })}
        </span>
      )}
      {!hasButton && (
        <Button kind="first" size="slim" onClick={() => setPaying(true)}>
          {t('pay.title', { sum: money(total_amount, currency) })}
        </Button>
      )}
      {isPaying && (
        <PayDialog message={message} invoice={invoice} onClose={() => setPaying(false)} />
      )}
    </div>
  )
}
