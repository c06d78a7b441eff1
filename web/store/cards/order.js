// An order in a list.

/**
 * @typedef {object} Order
 * @property {string} id
 * @property {number} voucherId
 * @property {number} [shopId]
 * @property {string} title
 * @property {number} payValue cents
 * @property {number} status 0 on its way, 1 unpaid, 2 paid, 3 used, 4 cancelled, 5 refunding, 6 refunded
 * @property {string} createTime
 * @property {string} [payTime]
 * @property {string} [useTime]
 * @property {string} [refundTime]
 * @property {string} [deadline]
 * @property {number} [deadlineInMs]
 */

export {};
