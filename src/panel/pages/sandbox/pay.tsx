/** Paying: an invoice with what the bot asks the buyer for and the way of shipping, and media that cost Stars. */

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import {
  type Invoice,
  type Message,
  type Paying,
  type Payment,
  type Person,
  peopleQuery,
} from '../../api/sandbox.ts'
import { latinDigits, useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choice, Field, Form } from '../../ui/form.tsx'
import { Wrong } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { useActing } from './acting.ts'
import { Attachment } from './attachment.tsx'
import { personName } from './names.tsx'

/** An invoice in a message: what is sold, for how much, and the way to pay it. */
interface InvoiceCardProps {
  readonly message: Message
  readonly invoice: Invoice
}

const DAY_SECONDS = 86_400
/** The currency in which paid media are sold. */
const STARS = 'XTR'

/** If the bot put no pay button below its invoice, the card has one. */
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
        <PayDialog payable={placeOf(message)} invoice={invoice} onClose={() => setPaying(false)} />
      )}
    </div>
  )
}

interface PaidMediaProps {
  readonly message: Message
  readonly paid: NonNullable<Message['paid_media']>
}

/** Files that are locked until this person has paid for them. */
export function PaidMedia({ message, paid }: PaidMediaProps) {
  const t = useT()
  const { money } = useFormats()
  const { paying } = usePaying(placeOf(message), STARS, () => undefined)
  const price = money(paid.star_count, STARS)
  const files = paid.items.map(({ media, ...figures }, place) => ({ place, media, figures }))
  const isLocked = files.some(({ media }) => media === undefined)
  return (
    <div className="stack tight">
      {files.map(({ place, media, figures }) =>
        media ? (
          <Attachment key={place} media={media} />
        ) : (
          <LockedFile key={place} figures={figures} />
        ),
      )}
      {isLocked ? (
        <Button kind="first" size="slim" busy={paying.isPending} onClick={() => paying.mutate({})}>
          {t('pay.unlock', { sum: price })}
        </Button>
      ) : (
        <span className="quiet small">{t('pay.media', { sum: price })}</span>
      )}
      <Wrong cause={paying.error} />
    </div>
  )
}

type Figures = Pick<PaidMediaProps['paid']['items'][number], 'width' | 'height' | 'duration'>

/** Its shape and length are known before. */
function LockedFile({ figures }: { readonly figures: Figures }) {
  const t = useT()
  const { width = 4, height = 3, duration } = figures
  const kind = t.word('messenger.kind', duration === undefined ? 'photo' : 'video')
  return (
    <span className="locked-file" style={{ aspectRatio: `${width} / ${height}` }}>
      {t('pay.locked', { kind })}
      {duration !== undefined && ` · ${t('pay.seconds', { seconds: duration })}`}
    </span>
  )
}

type Payable = Pick<Paying, 'chat' | 'message_id' | 'invoice_link'>

/** The invoice that a message carries. */
export const placeOf = ({ chat, message_id }: Message): Payable => ({ chat: chat.id, message_id })

interface PayDialogProps {
  readonly payable: Payable
  readonly invoice: Invoice
  onClose(): void
}

type Shipping = NonNullable<Payment['shipping_options']>

export function PayDialog({ payable, invoice, onClose }: PayDialogProps) {
  const t = useT()
  const { money } = useFormats()
  const { person } = useActing()
  const [order, setOrder] = useState<Order>(() => orderOf(person))
  const [tip, setTip] = useState('')
  const { currency, total_amount, asks, max_tip_amount, is_flexible } = invoice
  const { paying, offer, option, choose } = usePaying(payable, currency, onClose)
  const pay = () => {
    const order_info = wanted(order, asks)
    paying.mutate({ order_info, ...(tip !== '' && { tip_amount: Number(tip) }) })
  }
  return (
    <Dialog title={t('pay.title', { sum: money(total_amount, currency) })} open onClose={onClose}>
      <Form by={{ isPending: paying.isPending, mutate: pay }}>
        {offer ? (
          <ShippingChoice
            options={offer.shipping_options ?? []}
            value={option}
            invoice={invoice}
            choose={choose}
          />
        ) : (
          <>
            <OrderFields order={order} asks={asks} change={setOrder} />
            {max_tip_amount > 0 && (
              <Field
                label={t('pay.tip')}
                inputMode="numeric"
                pattern="[0-9]*"
                value={tip}
                onChange={(event) => setTip(latinDigits(event.target.value))}
              />
            )}
          </>
        )}
        <Outcome payment={paying.data} />
        <Wrong cause={paying.error} />
        <div className="actions">
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" kind="first" busy={paying.isPending}>
            {t(is_flexible && !offer ? 'pay.next' : 'pay.pay')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

/** Pays, in two steps where the bot offers ways of shipping first. */
function usePaying(payable: Payable, currency: string, onPaid: () => void) {
  const t = useT()
  const toast = useToast()
  const queries = useQueryClient()
  const { money } = useFormats()
  const { api } = useActing()
  const [offer, setOffer] = useState<Payment>()
  const [option, choose] = useState('')
  const paying = useMutation({
    mutationFn: (details: Pick<Paying, 'order_info' | 'tip_amount'>) =>
      api.pay(
        offer
          ? { payment_id: offer.payment_id, shipping_option_id: option }
          : { ...payable, ...details },
      ),
    onSuccess(payment) {
      const { state, total_amount = 0, shipping_options = [] } = payment
      // A payment that failed begins anew.
      setOffer(state === 'shipping' ? payment : undefined)
      if (state === 'shipping') choose(shipping_options[0]?.id ?? '')
      if (state !== 'paid') return
      queries.invalidateQueries({ queryKey: peopleQuery.queryKey })
      toast(t('pay.done', { sum: money(total_amount, currency) }))
      onPaid()
    },
  })
  return { paying, offer, option, choose }
}

interface ShippingChoiceProps {
  readonly options: Shipping
  readonly value: string
  readonly invoice: Invoice
  choose(option: string): void
}

function ShippingChoice({ options, value, invoice, choose }: ShippingChoiceProps) {
  const t = useT()
  const { money } = useFormats()
  const priceOf = ({ prices }: Shipping[number]) =>
    money(
      prices.reduce((sum, { amount }) => sum + amount, 0),
      invoice.currency,
    )
  return (
    <Choice
      label={t('pay.shipping')}
      value={value}
      options={options.map((option) => [option.id, `${option.title} · ${priceOf(option)}`])}
      onChange={choose}
    />
  )
}

/** Why the bot did not take the payment, until it is tried again. */
function Outcome({ payment }: { readonly payment: Payment | undefined }) {
  const t = useT()
  if (payment?.state !== 'refused' && payment?.state !== 'unanswered') return null
  return (
    <p className="wrong" role="alert">
      {payment.state === 'refused'
        ? t('pay.refused', { words: payment.error_message ?? '' })
        : t('pay.unanswered')}
    </p>
  )
}

const contactParts = ['name', 'phone_number', 'email'] as const
const addressParts = [
  'country_code',
  'city',
  'street_line1',
  'street_line2',
  'state',
  'post_code',
] as const

type Part = (typeof contactParts)[number] | (typeof addressParts)[number]
type Order = Readonly<Record<Part, string>>

const orderOf = (person: Person): Order => ({
  name: personName(person),
  phone_number: person.phone,
  email: '',
  country_code: '',
  city: '',
  street_line1: '',
  street_line2: '',
  state: '',
  post_code: '',
})

const isOptional = (part: Part): boolean => part === 'state' || part === 'street_line2'

/** Only what the invoice asks for. */
function wanted(order: Order, asks: Invoice['asks']): NonNullable<Paying['order_info']> {
  const { name, phone_number, email, ...address } = order
  const given = { name, phone_number, email, shipping_address: address }
  return Object.fromEntries(Object.entries(given).filter(([part]) => asks.includes(part)))
}

interface OrderFieldsProps {
  readonly order: Order
  readonly asks: Invoice['asks']
  change(order: Order): void
}

function OrderFields({ order, asks, change }: OrderFieldsProps) {
  const t = useT()
  const contacts = contactParts.filter((part) => asks.includes(part))
  const parts = [...contacts, ...(asks.includes('shipping_address') ? addressParts : [])]
  return parts.map((part) => (
    <Field
      key={part}
      label={t(`pay.${part}`)}
      type={part === 'email' ? 'email' : 'text'}
      required={!isOptional(part)}
      maxLength={part === 'country_code' ? 2 : part === 'post_code' ? 16 : 128}
      {...(part === 'country_code' && { pattern: '[A-Z]{2}' })}
      value={order[part]}
      onChange={({ target: { value } }) =>
        change({ ...order, [part]: part === 'country_code' ? value.toUpperCase() : value })
      }
    />
  ))
}
