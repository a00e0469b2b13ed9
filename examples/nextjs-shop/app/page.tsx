import { price, product } from '../lib/product'
import { buy } from './actions'

export default function Page() {
  return (
    <article className="product">
      <div className="cover" aria-hidden="true">
        <span>The Complete Guide to</span>
        <strong>Receipts</strong>
      </div>
      <div>
        <h1>{product.name}</h1>
        <p>{product.about}</p>
        <p className="price">{price(product.amount)}</p>
        <form action={buy}>
          <button>Buy</button>
        </form>
      </div>
    </article>
  )
}
