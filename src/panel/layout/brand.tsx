/** The name of the service, and its sign. */
import { Link } from 'react-router'
import icon from '../icon.svg'

export function Brand({ to }: { readonly to?: string }) {
  const content = (
    <>
      <img src={icon} width={26} height={26} alt="" />
      Chapar
    </>
  )
  return to ? (
    <Link className="brand" to={to}>
      {content}
    </Link>
  ) : (
    <span className="brand">{content}</span>
  )
}
